/** The file: whether it is ours and whole, whether the clock fits it, its unused keys and its backups. */
import { statSync } from "node:fs";
import { dayMs } from "../../contract/calendar.ts";
import { isActive } from "../../contract/key.ts";
import { writeMoment } from "../../contract/time.ts";
import { isFileOfNode } from "../../db/database-files.ts";
import type { Contents } from "../../db/examination/contents.ts";
import type { Examination } from "../../db/examination/examine.ts";
import { noDatabase } from "../../db/failure.ts";
import type { KeyRecord } from "../../db/keys.ts";
import { wordsFor } from "../../db/schema-version.ts";
import { adminCommand } from "../../program-name.ts";
import { andMore, bytesText } from "../terminal/numbers.ts";
import { broken, type Finding, fine, warning } from "./finding.ts";

/** An import takes a time this far ahead of the clock as now. */
const toleranceMs = 5 * 60_000;
const idleDays = 90;
/** Whoever has a key needs some days to put another one in its place. */
const expiringDays = 14;
const keysShown = 3;
/** Backups by hand, or by a timer of the owner. Without one for this long they fail. */
const backupWithinMs = 3 * dayMs;
/** With BACKUP_TO: a day of 25 hours, and an hour for the backup itself and its repetitions. */
const dailyWithinMs = 26 * 3_600_000;

export function lookAtContents(
  path: string,
  found: Examination,
  full: boolean,
  { place, nowMs }: { readonly place: string | null; readonly nowMs: number },
): Finding[] {
  if (found.kind !== "read") return [refused(path, found)];
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return [
    fine("file", `${path}, ${bytesText(size)}.`),
    ...lookAtSchema(path, found.contents),
    lookAtIntegrity(path, found.contents, full),
    ...lookAtClock(path, found.contents, nowMs),
    ...lookAtKeys(found.contents.keys, nowMs),
    lookAtBackups(found.contents, place, nowMs),
  ];
}

function refused(path: string, found: Exclude<Examination, { kind: "read" }>): Finding {
  const restore = `Move it away and put back a backup: ${adminCommand} restore FILE. If there is none, sqlite3 may recover some of it.`;
  switch (found.kind) {
    case "missing": {
      const missing = noDatabase(path);
      return broken("file", missing.message, missing.advice);
    }
    case "unreadable":
      return broken(
        "file",
        `${path} cannot be read (${found.reason}).`,
        "Run this as the owner of the file, and look at what is said of the disk.",
      );
    case "no database":
      return broken("file", `${path} is no database, or is damaged (${found.reason}).`, restore);
    case "unusable":
      return broken("schema", ...wordsFor(found.why, path, found.build));
    case "unfinished": {
      const what = `${path}-wal holds ${bytesText(found.logBytes)} that are not in the file yet, so the file was not read.`;
      const advice = `Start the server, or run ${adminCommand} account list, as the owner of the file; then look again.`;
      return warning("log", what, advice);
    }
  }
}

function lookAtSchema(path: string, { migrationsBehind, lost, slowFilters }: Contents): Finding[] {
  if (migrationsBehind > 0) {
    const next = isFileOfNode(path)
      ? `${adminCommand} cluster migrate brings it up to date on all nodes.`
      : "The next start or command brings the file up to date, and keeps a copy.";
    const advice = `Make a backup. ${next}`;
    return [warning("schema", "An earlier version of Leadfile wrote the file.", advice)];
  }
  if (lost.length > 0) {
    const advice = `Put back a backup: ${adminCommand} restore FILE.`;
    return [broken("schema", `Somebody removed ${lost.join(", ")} from the database.`, advice)];
  }
  if (slowFilters.length > 0) {
    const advice = "Report it with the version of Leadfile: answers are right, and slow where there are many leads.";
    return [warning("plans", `These filters read more than they return: ${slowFilters.join("; ")}.`, advice)];
  }
  return [fine("schema", "The schema is of this version."), fine("plans", "Every filter of /leads has its index.")];
}

function lookAtIntegrity(path: string, { damage }: Contents, full: boolean): Finding {
  if (damage.length > 0) {
    const advice = `Stop the server, keep a copy of ${path} and of what lies beside it, and put back a backup: ${adminCommand} restore FILE.`;
    return broken("integrity", `The file is damaged: ${damage.join("; ")}.`, advice);
  }
  const how = full ? "Every page, index and reference was checked." : "Every page was checked; --full checks indexes.";
  return fine("integrity", how);
}

function lookAtClock(path: string, { newestMs }: Contents, nowMs: number): Finding[] {
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(newestMs ?? 0, written);
  if (newest > nowMs + toleranceMs) {
    const what = `The clock says ${writeMoment(nowMs)}, but the file has something of ${writeMoment(Math.floor(newest))}.`;
    const wrong = "Set the clock (timedatectl); until then new leads may come before older ones.";
    const advice = `${wrong} If it is right, ${adminCommand} import undo takes back leads that came under a wrong one.`;
    return [warning("clock", what, advice)];
  }
  return [fine("clock", "Nothing in the file is ahead of the clock.")];
}

function lookAtKeys(keys: readonly KeyRecord[], nowMs: number): Finding[] {
  const since = nowMs - idleDays * dayMs;
  const live = keys.filter((key) => isActive(key, nowMs));
  const idle = live.filter(
    ({ createdMs, lastUsed }) => Math.max(createdMs, Date.parse(lastUsed ?? "0000-01-01")) < since,
  );
  const expiring = expiringAmong(live, nowMs + expiringDays * dayMs);
  const findings: Finding[] = [];
  if (idle.length > 0) {
    const what = `Not used for ${idleDays} days: ${named(idle)}.`;
    findings.push(warning("keys", what, `Revoke what nobody needs any more: ${adminCommand} key revoke ID.`));
  }
  if (expiring.length > 0) {
    const what = `Expiring within ${expiringDays} days: ${named(expiring)}.`;
    const advice = `Make another one with the same label: ${adminCommand} key create ACCOUNT --label TEXT.`;
    findings.push(warning("keys", what, advice));
  }
  const well = `Active keys: ${live.length}. None was unused for ${idleDays} days, none expires within ${expiringDays}.`;
  return findings.length > 0 ? findings : [fine("keys", well)];
}

/** Keys that expire before a moment, the next one first. One that was rotated has another one of its label beside it. */
function expiringAmong(live: readonly KeyRecord[], untilMs: number): KeyRecord[] {
  const endOf = ({ expiresMs }: KeyRecord) => expiresMs ?? Number.POSITIVE_INFINITY;
  const labelOf = ({ account, label }: KeyRecord) => JSON.stringify([account, label]);
  const goingOn = new Set(live.filter((key) => endOf(key) >= untilMs).map(labelOf));
  const expiring = live.filter((key) => endOf(key) < untilMs && !goingOn.has(labelOf(key)));
  return expiring.sort((one, other) => endOf(one) - endOf(other));
}

function named(keys: readonly KeyRecord[]): string {
  const shown = keys.slice(0, keysShown).map(({ id, account }) => `${id} of ${account}`);
  return shown.join(", ") + andMore(keys.length, keysShown);
}

/** Looks at the backups in BACKUP_TO; where that is not set, at those by hand. */
function lookAtBackups(contents: Contents, place: string | null, nowMs: number): Finding {
  const { hasLeads, lastBackupMs, lastStoredMs } = contents;
  const lastMs = place === null ? lastBackupMs : (lastStoredMs ?? lastBackupMs);
  const advice =
    place === null
      ? `Run ${adminCommand} backup FILE now, and set BACKUP_TO for a daily backup: docs/operations.md.`
      : `The log of the server says why the daily backup to ${place} fails. It is made only while the server runs.`;
  if (lastMs === null) {
    return hasLeads
      ? warning("backups", "No backup was ever made.", advice)
      : fine("backups", "There is nothing to back up yet.");
  }
  const made = `The last one was made at ${writeMoment(lastMs)}.`;
  const isOld = nowMs - lastMs > (place === null ? backupWithinMs : dailyWithinMs);
  return isOld ? warning("backups", made, advice) : fine("backups", made);
}
