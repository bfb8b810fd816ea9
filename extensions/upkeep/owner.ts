/** The database to which a place of backups belongs: that of this server, or another one. */
import type { StoredBackup } from "../../src/backup/places.ts";
import { grouped, leadsText } from "../../src/cli/terminal/numbers.ts";
import { adminCommand } from "../../src/runtime/program-name.ts";

/** The database of this server. */
export interface OwnDatabase {
  /** The file, as DATABASE_PATH names it. */
  readonly path: string;
  /** Null if there is no file. */
  readonly instance: string | null;
  readonly leads: number;
}

/** The reason not to delete any backup in a place, and what to do. */
export interface Doubt {
  readonly what: string;
  readonly advice: string;
}

/** Returns the backups of a database. Those of earlier builds name none, and count as its own. */
export function ownAmong(backups: readonly StoredBackup[], { instance }: OwnDatabase): StoredBackup[] {
  return backups.filter((one) => one.instance === null || one.instance === instance);
}

/**
 * Returns why the database of this server may be the wrong one for a place: the place has backups of another database, or its
 * newest backup has more than twice the leads. Null if all is well. `backups` are in order, the newest first.
 */
export function findDoubt(backups: readonly StoredBackup[], own: OwnDatabase, to: string): Doubt | null {
  const owned = ownAmong(backups, own);
  const other = backups.find((one) => !owned.includes(one));
  const [newest] = backups;
  const kept = "Until then, no backup in it is deleted, and ALERT_PING_URL is not requested.";
  if (other !== undefined) {
    const has = own.instance === null ? "does not exist" : `has ${leadsText(own.leads)}`;
    return {
      what: `${to} (BACKUP_TO) has backups of another database, the newest with ${leadsText(other.leads)}. ${own.path} (DATABASE_PATH) ${has}.`,
      advice:
        `If the path is wrong or its disk is not mounted, correct that. If the file was lost, restore it: ${adminCommand} restore ${other.file}. ` +
        `If both are right, set BACKUP_TO to another place. ${kept}`,
    };
  }
  if (newest === undefined || own.leads * 2 >= newest.leads) return null;
  return {
    what: `${own.path} (DATABASE_PATH) has ${leadsText(own.leads)}, and the newest backup in ${to} (BACKUP_TO) has ${grouped(newest.leads)}.`,
    advice:
      `If leads are missing, restore the backup: ${adminCommand} restore ${newest.file}. ` +
      `If they were deleted on purpose, the next backup resolves this. ${kept}`,
  };
}
