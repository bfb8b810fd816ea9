/** Makes a backup: a consistent copy of the database, made while others use it, with its manifest next to it. */
import { Database } from "bun:sqlite";
import { existsSync, rmSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { writeMoment } from "../contract/time.ts";
import { copyDigesting, draftOf, nameDraft, removeDraft, sync } from "../db/atomic-file.ts";
import { recordAct } from "../db/audit.ts";
import { type Connection, closing } from "../db/connection.ts";
import { filesOf } from "../db/database-files.ts";
import { codeOf, explainFailure, innermost, isDamaged, underlying } from "../db/failure.ts";
import { removeLeftovers, removeStaleDrafts } from "../db/leftovers.ts";
import { schemaVersion } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { refuseUnusable } from "../db/schema-version.ts";
import { copyWal } from "../db/wal.ts";
import { adminCommand } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import { contentOf, type Manifest, manifestPath, writeManifest } from "./manifest.ts";
import { type Ask, inThread } from "./thread.ts";

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
export async function makeBackup(path: string, file: string, nowMs: number, stop: AbortSignal): Promise<MadeBackup> {
  try {
    return await inThread<MadeBackup>("copyDatabase", { path, file, nowMs }, stop);
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
  writeManifest(manifestPath(file), manifest);
  return manifest;
}

/** The work of the thread. `complete` is called when only what cannot be stopped is left to do. */
export async function copyDatabase(
  { path, file, nowMs }: { path: string; file: string; nowMs: number },
  complete: Ask<null>,
): Promise<MadeBackup> {
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
    await complete(null);
    writeManifest(manifestDraft, manifest);
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
    const unrecorded = recordBackup(database, nowMs, { sha256, leads: counts.leads });
    return { file, sha256, bytes, leads: counts.leads, unrecorded };
  } catch (cause) {
    throw inWords(cause, file);
  }
}

/** Records a complete backup in the audit. It counts even if the database takes nothing more; returns the reason. */
function recordBackup(database: Connection, atMs: number, detail: Readonly<Record<string, string | number>>) {
  try {
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
  if (codeOf(cause) === "EEXIST") {
    return new UserError(`Another program has just created ${file}.`, "Name another file.");
  }
  if (!isDamaged(cause)) return explainFailure(cause, file);
  const advice = `Restore an earlier backup: ${adminCommand} restore FILE.`;
  return new UserError("The database is damaged, and a backup of it would be damaged as well.", advice);
}
