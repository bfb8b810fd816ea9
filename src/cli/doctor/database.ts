/** Checks the database: its schema and integrity, and whether the clock, the keys, and the backups fit it. */
import { statSync } from "node:fs";
import { dayMs } from "../../contract/calendar.ts";
import { isActive } from "../../contract/key.ts";
import { formatTime } from "../../contract/time.ts";
import { isFileOfNode } from "../../db/database-files.ts";
import { maxSilenceDays } from "../../db/due-leads.ts";
import { type Contents, toleranceMs, UnfinishedLog } from "../../db/examine.ts";
import type { KeyRecord } from "../../db/keys.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import { UserError } from "../../runtime/user-error.ts";
import { bytesText, daysText, firstOf, grouped, leadsText } from "../terminal/numbers.ts";
import { broken, type Examined, type Finding, fine, onlyFound, orFine, warning } from "./finding.ts";

const idleDays = 90;
/** Replacing a key takes its owner some days. */
const expiringDays = 14;
/** A client that used its key this recently still needs one. */
const usedDays = 7;
const maxKeys = 3;
const maxAccounts = 3;
/** Backups by hand, or by a timer of the owner. Without one for this long they fail. */
const backupWithinMs = 3 * dayMs;

const restoreAdvice = `restore a backup: ${adminCommand} restore FILE`;

/** Examines the database file: whether it can be read, is intact, is current, and has room. */
export function checkDatabase({ path, contents, config, full, nowMs }: Examined): Finding[] {
  if (contents instanceof UserError) {
    // The extension reports problems with the file of a node: the advice to restore a backup would be wrong.
    if (config?.cluster != null) return [];
    const { message, advice } = contents;
    return [contents instanceof UnfinishedLog ? warning("log", message, advice) : broken("file", message, advice)];
  }
  const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return [
    fine("file", `${path}, ${bytesText(size)}.`),
    ...checkSchema(path, contents),
    checkIntegrity(path, contents, full),
    ...checkClock(contents, Math.max(contents.newestMs ?? 0, mtimeMs), nowMs),
    ...checkRetention(contents),
    ...checkKeys(contents.keys, nowMs),
    ...(config?.backups == null ? [checkBackups(contents, nowMs)] : []),
  ];
}

function checkSchema(path: string, { migrationsBehind, lost }: Contents): Finding[] {
  if (migrationsBehind > 0) {
    const next = isFileOfNode(path)
      ? `Then upgrade it on all nodes: ${adminCommand} cluster migrate`
      : "The next start or command upgrades the file, and keeps a copy.";
    return [warning("schema", "An earlier version of Leadfile wrote the file.", `Make a backup. ${next}`)];
  }
  if (lost.length > 0) {
    return [broken("schema", `The database lacks ${lost.join(", ")}.`, `To recover, ${restoreAdvice}`)];
  }
  return [fine("schema", "The schema is up to date."), fine("plans", "Every filter of /leads has its index.")];
}

function checkIntegrity(path: string, { damage }: Contents, full: boolean): Finding {
  if (damage.length > 0) {
    const advice = `Stop the server, copy ${path} and the files next to it, and ${restoreAdvice}`;
    return broken("integrity", `The file is damaged: ${damage.join("; ")}.`, advice);
  }
  return fine(
    "integrity",
    full ? "All pages, indexes, and references are intact." : "All pages are intact. --full also checks indexes.",
  );
}

/** Checks the clock in both directions: data that is newer, and leads that it alone makes too old. */
function checkClock({ newer, due }: Contents, newestMs: number, nowMs: number): Finding[] {
  const clock = `The clock says ${formatTime(nowMs)}, but`;
  const doubted = due.filter(({ doubt }) => doubt === "clock");
  const leads = newer.map((account) => `${leadsText(account.leads)} of ${account.name}`);
  const behind = `${clock} the newest data in the file is from ${formatTime(Math.floor(newestMs))}${leads.length === 0 ? "" : ` (${firstOf(leads, maxAccounts)})`}.`;
  const right = `If the clock is right, undo the imports that were made while it was wrong: ${adminCommand} import undo ACCOUNT NUMBER`;
  return orFine(
    fine("clock", "No data in the file is newer than the clock."),
    newestMs > nowMs + toleranceMs &&
      warning("clock", behind, `Set the clock (timedatectl). Until then, polling clients may miss new leads. ${right}`),
    doubted.length > 0 &&
      warning(
        "clock",
        `${clock} nothing was done in the ${maxSilenceDays} days before. By this clock, ${dueText(doubted)}. They are kept.`,
        `Set the clock (timedatectl). If it is right, ${repeatText(doubted)}`,
      ),
  );
}

/** Finds retention that waits because it would erase most leads of an account at once. */
function checkRetention({ due }: Contents): Finding[] {
  const most = due.filter(({ doubt }) => doubt === "half");
  const what = `Retention would erase more than half of the leads of an account at once: ${dueText(most)}. They are kept.`;
  return onlyFound(
    most.length > 0 && warning("retention", what, `Check the clock. To erase the leads, ${repeatText(most)}`),
  );
}

type Due = Contents["due"];

function dueText(due: Due): string {
  const texts = due.map(({ name, older, all, retainDays }) => {
    return `${leadsText(older)} of ${name} ${older === 1 ? "is" : "are"} older than ${daysText(retainDays)} (of ${grouped(all)})`;
  });
  return firstOf(texts, maxAccounts, " and ");
}

function repeatText(due: Due): string {
  const commands = due.map(({ id, retainDays }) => `${adminCommand} retain ${id} --days ${retainDays}`);
  return `repeat the retention: ${firstOf(commands, maxAccounts, ", ")}`;
}

function checkKeys(keys: readonly KeyRecord[], nowMs: number): Finding[] {
  const active = keys.filter((key) => isActive(key, nowMs));
  const idleSinceMs = nowMs - idleDays * dayMs;
  const idle = active.filter(({ createdMs, lastUsed }) => {
    return Math.max(createdMs, Date.parse(lastUsed ?? "0000-01-01")) < idleSinceMs;
  });
  const expiring = expiringAmong(active, nowMs + expiringDays * dayMs);
  const expired = expiredAmong(keys, active, nowMs);
  return orFine(
    fine("keys", active.length === 0 ? "No key is active." : `${active.length} active, none idle or about to expire.`),
    expired.length > 0 &&
      warning(
        "keys",
        `Keys that have expired and were used within ${usedDays} days: ${named(expired)}.`,
        `Create new keys with the same labels: ${adminCommand} key create ACCOUNT --label TEXT`,
      ),
    idle.length > 0 &&
      warning(
        "keys",
        `Keys that were not used for ${idleDays} days: ${named(idle)}.`,
        `Revoke the keys that nobody needs: ${adminCommand} key revoke ID`,
      ),
    expiring.length > 0 &&
      warning(
        "keys",
        `Keys that expire within ${expiringDays} days: ${named(expiring)}.`,
        `Create new keys with the same labels: ${adminCommand} key create ACCOUNT --label TEXT`,
      ),
  );
}

const endOf = ({ expiresMs }: KeyRecord) => expiresMs ?? Number.POSITIVE_INFINITY;
const labelOf = ({ account, label }: KeyRecord) => JSON.stringify([account, label]);

/** Keys that expired while somebody used them. A key with an active one of the same label was rotated. */
function expiredAmong(keys: readonly KeyRecord[], active: readonly KeyRecord[], nowMs: number): KeyRecord[] {
  const renewed = new Set(active.map(labelOf));
  return keys.filter((key) => {
    const isExpired = key.revokedMs === null && endOf(key) <= nowMs;
    const isUsed = Date.parse(key.lastUsed ?? "0000-01-01") >= nowMs - (usedDays + 1) * dayMs;
    return isExpired && isUsed && !renewed.has(labelOf(key));
  });
}

/** Keys that expire before a time, the next one first. A key with a longer-lived one of the same label was rotated. */
function expiringAmong(active: readonly KeyRecord[], untilMs: number): KeyRecord[] {
  const lasting = new Set(active.filter((key) => endOf(key) >= untilMs).map(labelOf));
  const expiring = active.filter((key) => endOf(key) < untilMs && !lasting.has(labelOf(key)));
  return expiring.sort((one, other) => endOf(one) - endOf(other));
}

function named(keys: readonly KeyRecord[]): string {
  const texts = keys.map(({ id, account }) => `${id} of ${account}`);
  return firstOf(texts, maxKeys);
}

/** Checks the backups by hand. The extension checks the place of daily backups. */
function checkBackups({ leads, lastBackupMs }: Contents, nowMs: number): Finding {
  const advice = `Set BACKUP_TO for a daily backup (docs/operations.md), and make one now: ${adminCommand} backup FILE`;
  if (lastBackupMs === null && leads === 0) return fine("backups", "There is nothing to back up yet.");
  if (lastBackupMs === null) return warning("backups", "No backup has been made.", advice);
  const made = `The last backup was made at ${formatTime(lastBackupMs)}.`;
  return nowMs - lastBackupMs > backupWithinMs ? warning("backups", made, advice) : fine("backups", made);
}
