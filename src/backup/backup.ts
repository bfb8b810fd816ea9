/** Makes a backup: a consistent copy of the database, made while others use it, with its manifest next to it. */
import { existsSync, lstatSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { formatTime } from "../contract/time.ts";
import { type Connection, closing, connectTo } from "../db/connection.ts";
import { createDraftFolder, filesOf, sync } from "../db/database-files.ts";
import { codeOf, explainFailure, isDamaged, noDatabase, orElse } from "../db/failure.ts";
import { refuseUnusable, schemaVersion } from "../db/migrate.ts";
import { instanceOf, openDatabase } from "../db/open.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { contentOf, fileDigestOf, type Manifest, manifestPath, writeManifest } from "./manifest.ts";
import { publish } from "./publish.ts";
import { inThread } from "./thread.ts";

/** A backup as it is reported. */
export interface Backup {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly leads: number;
}

/** Makes a backup while the server and an import may run. Throws a UserError if it cannot, and leaves nothing behind. */
export async function makeBackup(path: string, file: string, nowMs: number, stop: AbortSignal): Promise<Backup> {
  refuseTaken(path, file);
  try {
    using folder = createDraftFolder(dirname(resolve(file)));
    const draft = join(folder.path, basename(file));
    const request = { path, file, draft, nowMs };
    const { sha256, bytes, counts } = await inThread<typeof copyDatabase>("copyDatabase", request, stop);
    publishBackup(draft, file);
    return { file, sha256, bytes, leads: counts.leads };
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST") throw explainFailure(cause, file);
    throw new UserError(`Another program has just created ${file}.`, "Name another file.");
  }
}

function refuseTaken(path: string, file: string): void {
  if (!existsSync(path)) throw noDatabase(path);
  if (filesOf(resolve(path)).includes(resolve(file))) {
    throw new UserError(`${file} belongs to the database itself.`, "Name another file.");
  }
  // A link that leads nowhere has the name as well.
  const taken = [file, manifestPath(file)].find((name) => orElse(() => lstatSync(name), null) !== null);
  if (taken !== undefined && !existsSync(taken)) {
    throw new UserError(`${taken} is a link to a file that does not exist.`, "Name another file, or remove the link.");
  }
  if (taken !== undefined) {
    throw new UserError(`${taken} already exists, and a backup never overwrites a file.`, "Name another file.");
  }
}

interface Copying {
  readonly path: string;
  readonly file: string;
  readonly draft: string;
  readonly nowMs: number;
}

/** Copies the database into a draft, in the worker thread. Throws a UserError if the database is damaged. */
export async function copyDatabase({ path, file, draft, nowMs }: Copying): Promise<Manifest> {
  try {
    using database = closing(openDatabase(path));
    return await copyInto(draft, database, nowMs);
  } catch (cause) {
    if (!isDamaged(cause)) throw explainFailure(cause, file);
    const advice = `Restore an earlier backup: ${adminCommand} restore FILE.`;
    throw new UserError("The database is damaged, so a backup of it would also be damaged.", advice);
  }
}

/** Copies the database as it is, not upgraded, with a manifest. */
export async function copyUnchanged(path: string, file: string, nowMs: number): Promise<Manifest> {
  using database = connectTo(path, "readwrite");
  refuseUnusable(database, path);
  return await copyInto(file, database, nowMs);
}

/** Copies an open database into a file, and writes its manifest. */
async function copyInto(file: string, database: Connection, nowMs: number): Promise<Manifest> {
  // Copying page by page would begin again at every write of the server. This reads one state to its end, and copies
  // only live rows: nothing that was erased gets into a backup from a free page.
  database.run(sql`VACUUM INTO ${file}`);
  sync(file);
  const manifest = await describe(file, nowMs);
  writeManifest(manifestPath(file), manifest);
  return manifest;
}

/** The manifest comes first: when the backup has its name, both are complete. */
function publishBackup(draft: string, file: string): void {
  publish(manifestPath(draft), manifestPath(file));
  try {
    publish(draft, file);
  } catch (cause) {
    rmSync(manifestPath(file), { force: true });
    throw cause;
  }
  sync(dirname(resolve(file)));
}

async function describe(file: string, nowMs: number): Promise<Manifest> {
  const digest = await fileDigestOf(file);
  using database = connectTo(file, "readonly");
  const schema = schemaVersion(database);
  // A file of an earlier version has none until it is upgraded.
  const instance = orElse(() => instanceOf(database), null) ?? undefined;
  const made = { file: basename(file), ...digest, schema, made_at: formatTime(nowMs), ...contentOf(database) };
  return instance === undefined ? made : { ...made, instance };
}
