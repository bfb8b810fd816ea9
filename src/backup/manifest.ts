/** The manifest next to a backup: its size, its digest, and its numbers of rows. */
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { sql } from "drizzle-orm";
import { readLeadGroups } from "../db/all-leads.ts";
import type { Connection } from "../db/connection.ts";
import { readText } from "../db/database-files.ts";
import { orElse } from "../db/failure.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";

const Count = Type.Integer({ minimum: 0 });
const Digest = Type.String({ pattern: "^[0-9a-f]{64}$" });

const Manifest = Type.Object({
  file: Type.String(),
  sha256: Digest,
  bytes: Count,
  schema: Count,
  made_at: Type.String({ pattern: "^\\d{4}-(0\\d|1[0-2])-[0-3]\\dT[0-2]\\d:[0-5]\\d:[0-5]\\d\\.\\d{3}Z$" }),
  counts: Type.Object({ accounts: Count, pixels: Count, keys: Count, leads: Count }),
  content: Digest,
  /** The database that was backed up. Backups of earlier builds do not name it. */
  instance: Type.Optional(Type.String()),
});
export type Manifest = Static<typeof Manifest>;

/** Returns the path of the manifest of a backup, in the same folder. */
export function manifestPath(file: string): string {
  return `${file}.manifest.json`;
}

/** Reads the manifest of a backup; throws a UserError if the backup does not exist or the manifest cannot be read. */
export function readManifest(file: string): Manifest {
  if (!existsSync(file)) {
    throw new UserError(`There is no file ${file}.`, `Pass a file that ${adminCommand} backup made.`);
  }
  const path = manifestPath(file);
  const advice =
    "Without its manifest, a backup cannot be checked. Put it next to the backup, and check that this user can read both. " +
    `For a copy without a manifest, run DATABASE_PATH=COPY ${adminCommand} doctor --full, and then make a backup of it, ` +
    "also with DATABASE_PATH=COPY.";
  const manifest = parseManifest(readText(path, advice));
  if (manifest !== null) return manifest;
  throw new UserError(`${path} is not the manifest of a backup.`, "Use the manifest that was made with the backup.");
}

/** Writes a manifest to a new file, to the disk. */
export function writeManifest(path: string, manifest: Manifest): void {
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`, { flag: "wx", mode: 0o600, flush: true });
}

/** Parses a manifest; null if the text is none. */
export function parseManifest(text: string): Manifest | null {
  const manifest: unknown = orElse(() => JSON.parse(text), null);
  return Value.Check(Manifest, manifest) ? manifest : null;
}

/** The SHA-256 and the length of a file. */
export async function fileDigestOf(path: string): Promise<{ sha256: string; bytes: number }> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk);
  return { sha256: hash.digest("hex"), bytes: Bun.file(path).size };
}

/** Counts the rows, and computes a digest of their content that no migration changes. */
export function contentOf(database: Connection): Pick<Manifest, "counts" | "content"> {
  const hash = createHash("sha256");
  const count = (table: string, columns: string) => {
    const rows = database.values(sql.raw(`SELECT ${columns} FROM ${table} ORDER BY number`));
    hash.update(`${table} ${JSON.stringify(rows)}\n`);
    return rows.length;
  };
  const accounts = count("accounts", "number, id, name, active, created_at");
  const pixels = count("pixels", "number, account, id, status, created_at");
  const keys = count("keys", "number, account, id, hex(digest), prefix, label, created_at");
  let leads = 0;
  for (const [account] of database.values<[number]>(sql`SELECT number FROM accounts ORDER BY number`)) {
    for (const some of readLeadGroups(database, account)) {
      leads += some.length;
      hash.update(`${account} ${some.map(({ doc }) => doc).join("\n")}\n`);
    }
  }
  return { counts: { accounts, pixels, keys, leads }, content: hash.digest("hex") };
}
