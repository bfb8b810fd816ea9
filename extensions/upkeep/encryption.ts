/** Encrypts backups for an age recipient, and decrypts them with its identity (https://age-encryption.org). */
import { Decrypter, Encrypter } from "age-encryption";
import type { Decryption } from "../../src/backup/places.ts";
import { readText, sync } from "../../src/db/database-files.ts";
import { codeOf } from "../../src/db/failure.ts";
import { UserError } from "../../src/runtime/user-error.ts";

/** Encrypts a file into a new one. */
export async function encryptFile(from: string, to: string, recipient: string): Promise<void> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  await write(await encrypter.encrypt(Bun.file(from).stream()), to);
}

/** Decrypts a file into a new one; throws a UserError if the identity file does not match, or the file is damaged. */
export async function decryptFile(from: string, to: string, { name, identityFile }: Decryption): Promise<void> {
  if (identityFile === null) {
    throw new UserError(`${name} is encrypted.`, "Pass --identity FILE, with the file that age-keygen wrote.");
  }
  const decrypter = new Decrypter();
  for (const identity of readIdentities(identityFile)) decrypter.addIdentity(identity);
  try {
    await write(await decrypter.decrypt(Bun.file(from).stream()), to);
  } catch (cause) {
    if (codeOf(cause) !== "") throw cause;
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new UserError(
      `${name} cannot be decrypted (${said}).`,
      `Pass the identity of the BACKUP_RECIPIENT that it was encrypted for. If ${identityFile} is that identity, the backup is damaged.`,
    );
  }
}

function readIdentities(path: string): string[] {
  const advice = "Pass the file that age-keygen wrote.";
  const identities = readText(path, advice).match(/^AGE-SECRET-KEY-1[0-9A-Z]+\s*$/gm) ?? [];
  if (identities.length === 0) throw new UserError(`${path} has no age identity (AGE-SECRET-KEY-1…).`, advice);
  return identities.map((identity) => identity.trim());
}

/** Writes a stream to a new file, and waits until it is on the disk. */
async function write(stream: ReadableStream<Uint8Array>, path: string): Promise<void> {
  await Bun.write(path, new Response(stream));
  sync(path);
}
