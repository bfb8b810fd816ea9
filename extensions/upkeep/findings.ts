/** Checks the place of the daily backups: whether it can be reached, to whom it belongs, and how old its newest backup is. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { StoredBackup } from "../../src/backup/places.ts";
import { untilStopped } from "../../src/backup/thread.ts";
import { broken, type Examined, type Finding, fine, warning } from "../../src/cli/doctor/finding.ts";
import { mayWrite } from "../../src/cli/doctor/storage.ts";
import { leadsText } from "../../src/cli/terminal/numbers.ts";
import { isS3 } from "../../src/config.ts";
import { innermost } from "../../src/db/failure.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { readFailedAttempt } from "./attempt.ts";
import { listPlace } from "./listing.ts";
import { findDoubt, type OwnDatabase, ownAmong } from "./owner.ts";

/** A day of 25 hours, and an hour for the backup itself and its repetitions. */
const maxAgeMs = 26 * 3_600_000;
/** The doctor does not wait longer for a place. */
const maxListMs = 10_000;

/** Checks BACKUP_TO. Finds nothing if it is not set. */
export async function checkPlace({ path, contents, config, nowMs }: Examined): Promise<Finding[]> {
  if (config?.backups == null) return [];
  const { to } = config.backups;
  const backups = await listWithin(to, nowMs);
  if (backups instanceof UserError) {
    const advice = `${backups.advice} The daily backup is stored in this place (BACKUP_TO).`.trim();
    return [warning("backups", backups.message, advice)];
  }
  const own = ownDatabase(path, contents);
  if (own === null) return [];
  const doubt = findDoubt(backups, own, to);
  const failed = readFailedAttempt(path);
  return [
    ...(doubt === null ? [] : [broken("backups", doubt.what, doubt.advice)]),
    ...(isS3(to) || mayWrite(to)
      ? []
      : [warning("backups", `This user cannot write to the folder ${to} (BACKUP_TO).`, ownFolder)]),
    ...(failed === null ? [] : [warning("backups", `The backup at ${failed.at} failed: ${failed.reason}`, retried)]),
    ...(own.instance === null ? [] : [checkAge(ownAmong(backups, own), own, to, nowMs)]),
  ];
}

/** Lists a place, or returns the error. */
async function listWithin(to: string, nowMs: number): Promise<StoredBackup[] | UserError> {
  const stop = AbortSignal.timeout(maxListMs);
  try {
    return await untilStopped(listPlace(to, nowMs), stop);
  } catch (cause) {
    if (cause instanceof UserError) return cause;
    if (cause !== stop.reason) return new UserError(`${to} cannot be listed (${innermost(cause)}).`, "");
    const advice = "Check the network and AWS_ENDPOINT_URL.";
    return new UserError(`${to} did not answer within ${maxListMs / 1000} seconds.`, advice);
  }
}

const ownFolder = "Create it for the user of the server, or set BACKUP_TO to another folder.";
const retried = "The server tries it again every 15 minutes. Its log has each failure.";

function checkAge([newest]: readonly StoredBackup[], own: OwnDatabase, to: string, nowMs: number): Finding {
  const advice = "The server makes a backup at start and every day. If that fails, see its log for the reason.";
  if (newest === undefined && own.leads === 0) return fine("backups", "There is nothing to back up yet.");
  if (newest === undefined) return warning("backups", `${to} (BACKUP_TO) has no backup of this database.`, advice);
  const made = `The last backup was made at ${newest.made_at}.`;
  if (nowMs - Date.parse(newest.made_at) > maxAgeMs) return warning("backups", made, advice);
  return fine("backups", `${made} It has ${leadsText(newest.leads)}.`);
}

/** Returns null for a file that cannot be read, or is of an earlier version: another check reports that. */
function ownDatabase(path: string, contents: Examined["contents"]): OwnDatabase | null {
  if (!existsSync(path)) return { path: resolve(path), instance: null, leads: 0 };
  return contents instanceof UserError || contents.instance === null ? null : { path: resolve(path), ...contents };
}
