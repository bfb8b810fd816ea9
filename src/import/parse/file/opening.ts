/** Files on the disk, as they are opened for an import. */
import { closeSync, constants, createReadStream, fstatSync, openSync, statSync } from "node:fs";
import { systemCode } from "../../../operator/system-code.ts";
import { UserError } from "../../../user-error.ts";

/** About a thousand rows: as much as one transaction takes. */
export const chunkBytes = 512 * 1024;

/** The bytes of a file, in chunks. Where it follows no link, it reads a file itself and nothing else. */
export function bytesOf(file: string, followsNoLink: boolean): AsyncIterable<Uint8Array> {
  const options = { highWaterMark: chunkBytes };
  return createReadStream(file, followsNoLink ? { ...options, fd: openItself(file) } : options);
}

/** What lies there now need not be what was found: a link leads elsewhere, and a pipe would be waited for. */
function openItself(file: string): number {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new UserError(`${file} is no file any more.`, "Put the file itself in its place.");
}

/** The size of a file; null for what has none, as a pipe. Throws a UserError when there is no such file. */
export function sizeOf(file: string): number | null {
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new UserError(`${file} is a folder.`, "Name the export itself.");
    return found.isFile() ? found.size : null;
  } catch (cause) {
    throw cause instanceof UserError ? cause : unreadable(file, cause);
  }
}

/** Says of a file or standard input, `-`, that it cannot be read. */
export function unreadable(file: string, cause: unknown): UserError {
  const name = file === "-" ? "Standard input" : file;
  // What a shell makes of <(…) is a descriptor, which bun run does not hand on.
  const advice = file.startsWith("/dev/fd/")
    ? "Pipe it into this command, with - for the file."
    : "Check the name, and that this user may read it.";
  return new UserError(`${name} cannot be read (${systemCode(cause) ?? "unknown"}).`, advice);
}
