/** Makes a backup: a consistent copy of the database, made while others use it, with its manifest next to it. */
import { Database } from "bun:sqlite";
import { existsSync, rmSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { writeMoment } from "../contract/time.ts";
import { copyDigesting, draftOf, nameDraft, removeDraft, sync, writeDraft } from "../db/atomic-file.ts";
import { recordAct } from "../db/audit.ts";
import { closing } from "../db/connection.ts";
import { filesOf } from "../db/database-files.ts";
import { codeOf, innermost, isDamaged, isFull, saidBy, underlying } from "../db/failure.ts";
import { removeLeftovers, removeStaleDrafts } from "../db/leftovers.ts";
import { schemaVersion } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { refuseUnusable } from "../db/schema-version.ts";
import { copyWal } from "../db/wal.ts";
import { adminCommand } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import { contentOf, type Manifest, manifestPath, textOf, writeManifest } from "./manifest.ts";
import { inThread, type Listen } from "./thread.ts";

/** A backup as it is reported. */
export interface Backup {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly leads: number;
}

export interface MadeBackup extends Backup {
  /** Why the audit has no record of it, such as a full disk; null if it has one. */
  readonly unrecorded: string | null;
}

/** Makes a backup while the server and an import may run. Throws a UserError if it cannot, and leaves nothing behind. */
export async function makeBackup(path: string, file: string, nowMs: number, listen: Listen): Promise<MadeBackup> {
  try {
    return await inThread<MadeBackup>("copyDatabase", { path, file, nowMs }, listen);
  } finally {
    for (const name of [file, manifestPath(file)]) removeDraft(draftOf(name));
  }
}

/** Copies the database as it is, not upgraded, with a manifest. */
export function copyUnchanged(path: string, file: string, nowMs: number): Manifest {
  using client = new Database(path, { readwrite: true });
  const database = drizzle({ client });
  refuseUnusable(database, path);
  database.run(sql`VACUUM INTO ${file}`);
  const manifest = describe(file, file, nowMs);
  writeManifest(file, manifest);
  return manifest;
}

/** The work of the thread. `complete` is called when only what cannot be stopped is left to do. */
export function copyDatabase(
  { path, file, nowMs }: { path: string; file: string; nowMs: number },
  complete: (question: null) => void,
): MadeBackup {
  refuseTaken(path, file);
  using database = closing(openDatabase(path));
  const [draft, manifestDraft] = [draftOf(file), draftOf(manifestPath(file))];
  try {
    for (const name of [file, manifestPath(file)]) removeStaleDrafts(name);
    removeLeftovers(dirname(resolve(file)));
    // Copying page by page would begin again at every write of the server. This reads one state to its end, and copies
    // only live rows: nothing that was erased gets into a backup from a free page.
    database.run(sql`VACUUM INTO ${draft}`);
    const manifest = describe(draft, file, nowMs);
    sync(draft);
    complete(null);
    writeDraft(manifestDraft, textOf(manifest));
    // The manifest comes first: when the backup has its name, both are complete.
    nameDraft(manifestDraft, manifestPath(file));
    try {
      nameDraft(draft, file);
    } catch (cause) {
      rmSync(manifestPath(file), { force: true });
      throw cause;
    }
    sync(dirname(resolve(file)));
    const { sha256, bytes, counts } = manifest;
    const unrecorded = recordBackup(path, nowMs, { sha256, leads: counts.leads });
    return { file, sha256, bytes, leads: counts.leads, unrecorded };
  } catch (cause) {
    throw inWords(cause, file);
  }
}

/** Records a complete backup in the audit. It counts even if the database takes nothing more; returns the reason. */
export function recordBackup(path: string, atMs: number, detail: Readonly<Record<string, string | number>>) {
  try {
    using database = closing(openDatabase(path));
    recordAct(database, { atMs, act: "backup", account: null, detail });
    // A thread ends without closing its connection completely, which would copy the log.
    copyWal(database);
    return null;
  } catch (cause) {
    return innermost(cause);
  }
}

function refuseTaken(path: string, file: string): void {
  if (!existsSync(path)) {
    throw new UserError(`There is no database at ${path}.`, "Set DATABASE_PATH to the file that the server uses.");
  }
  const folder = dirname(resolve(file));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UserError(`There is no folder ${folder}.`, "Create it, or name a file in another one.");
  }
  if (filesOf(resolve(path)).includes(resolve(file))) {
    throw new UserError(`${file} belongs to the database itself.`, "Name another file.");
  }
  const taken = [file, manifestPath(file)].find((name) => existsSync(name));
  if (taken !== undefined) {
    throw new UserError(`${taken} already exists, and a backup never overwrites a file.`, "Name another file.");
  }
}

function describe(draft: string, file: string, nowMs: number): Manifest {
  const { sha256, bytes } = copyDigesting(draft, null);
  using client = new Database(draft, { readonly: true });
  const database = drizzle({ client });
  const schema = schemaVersion(database);
  return { file: basename(file), sha256, bytes, schema, made_at: writeMoment(nowMs), ...contentOf(database) };
}

function inWords(failure: unknown, file: string): unknown {
  const cause = underlying(failure);
  if (isFull(cause)) {
    return new UserError(`The disk of ${file} is full.`, "Free some space, or name a file on another disk.");
  }
  if (codeOf(cause) === "EEXIST") {
    return new UserError(`Another program has just created ${file}.`, "Name another file.");
  }
  if (isDamaged(cause)) {
    const advice = `Restore an earlier backup: ${adminCommand} restore FILE.`;
    return new UserError("The database is damaged, and a backup of it would be damaged as well.", advice);
  }
  const reason = saidBy(cause);
  if (reason === null) return cause;
  return new UserError(
    `${file} cannot be written (${reason}).`,
    "Check the folder, and that this user may write in it.",
  );
}
