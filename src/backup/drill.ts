/** Tests a backup or an upgrade on a copy: with the code of a restore, in a temporary folder, comparing every lead. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { dayMs } from "../contract/calendar.ts";
import { type Connection, connectTo, DatabaseUnavailable } from "../db/connection.ts";
import { createDraftFolder, freeBytesAt } from "../db/database-files.ts";
import { noDatabase } from "../db/failure.ts";
import { lastBuild, pendingMigrations } from "../db/migrate.ts";
import { build } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { type Backup, copyUnchanged } from "./backup.ts";
import { rememberErasures } from "./erasures.ts";
import { readManifest } from "./manifest.ts";
import { explainBackupFailure, merge, openDraft } from "./restore.ts";
import { inThread } from "./thread.ts";

/** Tests a backup. Throws a UserError that says how the restored file differs. Nothing is left behind. */
export async function drill(file: string, nowMs: number, stop: AbortSignal): Promise<TestedBackup> {
  using folder = createDraftFolder(dirname(resolve(file)));
  return await inThread<typeof drillBackup>("drillBackup", { file, folder: folder.path, nowMs }, stop);
}

/** A backup that was restored into a temporary folder. */
export interface TestedBackup extends Backup {
  /** The number of leads that a restore on this day would leave out, because they are older than their account keeps. */
  readonly retainedOut: number;
}

interface Trial {
  readonly folder: string;
  readonly nowMs: number;
}

/** Restores a backup into a draft, in the worker thread, and checks it. */
export async function drillBackup({ file, folder, nowMs }: Trial & { readonly file: string }): Promise<TestedBackup> {
  try {
    const manifest = readManifest(file);
    using database = await openDraft(file, join(folder, "leadfile.db"), manifest);
    rememberErasures(database);
    const { retainedOut } = merge(database, { replaced: "nothing there", receipts: [], manifest, nowMs });
    const differing = countDiffering(database, file, nowMs);
    if (differing > 0)
      throw new UserError(`${file} was restored, but ${differing} leads differ from the backup.`, "Make a new backup.");
    return { file, sha256: manifest.sha256, bytes: manifest.bytes, leads: manifest.counts.leads, retainedOut };
  } catch (cause) {
    const failure = explainBackupFailure(cause, file, file);
    // A full disk says nothing about the backup.
    if (!(failure instanceof UserError) || failure instanceof DatabaseUnavailable) throw failure;
    throw new UserError(`The drill failed: ${failure.message}`, "Make a new backup, and test that one.");
  }
}

/**
 * Counts the leads that a restored database and its backup do not share. Retention alone may leave out some: its limit is
 * null for an account that keeps all leads, or that was not restored.
 */
function countDiffering(database: Connection, file: string, nowMs: number): number {
  database.run(sql`ATTACH ${resolve(file)} AS backup`);
  const [[differing = 0] = []] = database.values<[number]>(sql`
    SELECT (
      SELECT count(*) FROM backup.stored_leads AS kept LEFT JOIN main.stored_leads AS restored
        ON restored.account = kept.account AND restored.uuid = kept.uuid
      WHERE restored.doc IS NOT kept.doc AND (
        restored.doc IS NULL AND kept.identified_at < (
          SELECT ${nowMs} - retain_days * ${dayMs} FROM main.accounts WHERE accounts.number = kept.account)
      ) IS NOT TRUE
    ) + (
      SELECT count(*) FROM main.stored_leads AS restored WHERE NOT EXISTS (
        SELECT 1 FROM backup.stored_leads AS kept WHERE kept.account = restored.account AND kept.uuid = restored.uuid))`);
  database.run(sql`DETACH backup`);
  return differing;
}

/** Upgrades a copy of the database, compares every lead, and changes nothing. Throws a UserError if the copy differs. */
export async function tryUpgrade(path: string, nowMs: number, stop: AbortSignal) {
  if (!existsSync(path)) throw noDatabase(path);
  using folder = createDraftFolder(dirname(path));
  return await inThread<typeof upgradeCopy>("upgradeCopy", { path, folder: folder.path, nowMs }, stop);
}

/** Upgrades a copy of the database, in the worker thread, and measures the time and space that it takes. */
export async function upgradeCopy({ path, folder, nowMs }: Trial & { readonly path: string }) {
  const startMs = performance.now();
  const copy = join(folder, "copy.db");
  const { bytes } = await copyUnchanged(path, copy, nowMs);
  const { leads } = await drillBackup({ file: copy, folder, nowMs });
  using database = connectTo(copy, "readonly");
  return {
    // The build that wrote the file last, and this one.
    from: lastBuild(database),
    to: build,
    // 0 if the file needs no upgrade.
    migrations: pendingMigrations(database).length,
    leads,
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
    // The copy that is kept, and what a migration that rewrites the largest table puts into the log.
    neededBytes: 2 * bytes,
    // The copy and the drill took space that is free again when they are removed.
    freeBytes: freeBytesAt(copy) + 2 * bytes,
  };
}
