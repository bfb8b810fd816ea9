/** Tests a backup: restores it into a temporary folder with the code of a restore, and compares every lead. */
import { rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { closing } from "../db/connection.ts";
import { codeOf } from "../db/failure.ts";
import { removeLeftovers, trialFolderIn } from "../db/leftovers.ts";
import { UserError } from "../user-error.ts";
import type { Backup } from "./backup.ts";
import { restoreAside } from "./restore.ts";
import { inThread } from "./thread.ts";

/** Tests a backup. Throws a UserError that says how the restored file differs. Nothing is left behind. */
export async function drill(file: string, nowMs: number, stop: AbortSignal): Promise<Backup> {
  process.umask(0o077);
  const beside = dirname(resolve(file));
  removeLeftovers(beside);
  const folder = makeFolder(beside);
  try {
    return await inThread<Backup>("drillBackup", { file, folder, nowMs }, stop);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeFolder(folder: string): string {
  try {
    return trialFolderIn(folder);
  } catch (cause) {
    throw new UserError(
      `The drill needs to write into the folder of the backup, and ${folder} cannot be written (${codeOf(cause)}).`,
      "Copy the backup and its manifest to a folder that this user may write in, and drill the copy.",
    );
  }
}

/** The work of the thread. */
export function drillBackup({ file, folder, nowMs }: { file: string; folder: string; nowMs: number }): Backup {
  const restored = restoreOrFail(file, join(folder, "leadfile.db"), nowMs);
  using database = closing(restored.database);
  const { sha256, bytes, counts } = restored.manifest;
  database.run(sql`ATTACH ${resolve(file)} AS backup`);
  // Of the leads of the backup, retention alone may leave out some.
  const [[changed = 0] = []] = database.values<[number]>(sql`
    SELECT count(*) FROM backup.stored_leads AS kept LEFT JOIN main.stored_leads AS restored
      ON restored.account = kept.account AND restored.uuid = kept.uuid
    WHERE restored.doc IS NOT kept.doc AND NOT (
      restored.doc IS NULL AND kept.identified_at < (
        SELECT ${nowMs} - retain_days * 86400000 FROM main.accounts WHERE accounts.number = kept.account))`);
  const [[added = 0] = []] = database.values<[number]>(sql`
    SELECT count(*) FROM main.stored_leads AS restored WHERE NOT EXISTS (
      SELECT 1 FROM backup.stored_leads AS kept WHERE kept.account = restored.account AND kept.uuid = restored.uuid)`);
  database.run(sql`DETACH backup`);
  if (changed + added === 0) return { file, sha256, bytes, leads: counts.leads };
  throw failed(`${file} was restored, but ${changed + added} leads differ from the backup.`);
}

function restoreOrFail(file: string, draft: string, nowMs: number): ReturnType<typeof restoreAside> {
  try {
    return restoreAside(file, draft, nowMs);
  } catch (cause) {
    throw cause instanceof UserError ? failed(cause.message) : cause;
  }
}

function failed(why: string): UserError {
  return new UserError(`The drill failed: ${why}`, "Make a new backup, and drill that one.");
}
