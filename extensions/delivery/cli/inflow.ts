/** Findings of the doctor about leads that arrive automatically: the last import, pending files, and failed files. */
import { join } from "node:path";
import { broken, type Examined, type Finding, fine, onlyFound, warning } from "../../../src/cli/doctor/finding.ts";
import { bytesText, counted, firstOf, grouped } from "../../../src/cli/terminal/numbers.ts";
import { dayMs } from "../../../src/contract/calendar.ts";
import { formatTime } from "../../../src/contract/time.ts";
import { isFolder, spoolOf } from "../../../src/db/database-files.ts";
import type { AccountInflow } from "../../../src/db/examine.ts";
import { adminCommand } from "../../../src/runtime/program-name.ts";
import { UserError } from "../../../src/runtime/user-error.ts";
import { type FolderQueue, type Pending, readQueue, total } from "../inbox/queue.ts";
import { isFolderOf, settingsIn } from "../inbox/settings.ts";

/** If leads arrive automatically and none has come for this many days, something has stopped. */
const quietDays = 3;
const maxAccountsShown = 3;
/** Deliveries wait a minute. An import of many leads takes longer. */
const maxWaitMs = 15 * 60_000;

/** Looks at the inbox and at what vendors have delivered. */
export function lookAtInflow({ path, config, contents, nowMs }: Examined): Finding[] {
  const spool = spoolOf(path);
  const inbox = config?.inbox ?? null;
  const inflows = contents instanceof UserError ? null : contents.inflows;
  return [
    ...(inflows === null ? [] : [lookAtImports(inflows, inbox, nowMs)]),
    ...(inbox === null ? [] : lookAtInbox(inbox, inflows, nowMs)),
    ...(isFolder(spool) ? checkSpool(readQueue(spool), nowMs) : []),
  ];
}

function lookAtImports(inflows: readonly AccountInflow[], inbox: string | null, nowMs: number): Finding {
  const fed = inflows.toSorted((one, other) => lastOf(other) - lastOf(one)).filter((one) => lastOf(one) > 0);
  const [last] = fed;
  if (last === undefined) return fine("imports", "No lead has been imported yet.");
  // The vendor who stopped last is the one whom somebody may still wait for.
  const quiet = fed.filter((one) => isAutomatic(one, inbox) && nowMs - lastOf(one) > quietDays * dayMs);
  if (quiet.length === 0) return fine("imports", `The last leads were imported at ${formatTime(lastOf(last))}.`);
  const named = quiet.map((one) => `${one.name} (the last at ${formatTime(lastOf(one))})`);
  const advice = `Check that the vendor still sends leads, and that ${adminCommand} inbox or receive runs.`;
  return warning("imports", `No lead in ${quietDays} days: ${firstOf(named, maxAccountsShown)}.`, advice);
}

const lastOf = ({ lastImportMs }: AccountInflow) => lastImportMs ?? 0;

/** Returns whether a vendor delivers to an account, or it has a folder in the inbox. */
function isAutomatic({ id, name, hasSource }: AccountInflow, inbox: string | null): boolean {
  return hasSource || (inbox !== null && [id, name].some((folder) => isFolder(join(inbox, folder))));
}

function lookAtInbox(inbox: string, accounts: readonly AccountInflow[] | null, nowMs: number): Finding[] {
  if (!isFolder(inbox)) {
    const advice = "Create it, with a folder for each account in it. The server does not start without it.";
    return [broken("inbox", `INBOX is ${inbox}, but there is no such folder.`, advice)];
  }
  const folders = readQueue(inbox);
  return [...folders.flatMap((folder) => checkPending(folder, accounts, nowMs)), ...lookAtSettled("inbox", folders)];
}

/** Files wait for some seconds, or for the end of another import. If it takes longer, something is wrong. */
function checkPending(folder: FolderQueue, accounts: readonly AccountInflow[] | null, nowMs: number): Finding[] {
  const { name, path, waiting } = folder;
  if (waiting.sinceMs === null) return [];
  const what = `${filesText(waiting.count)} in ${path}: waiting, the oldest since ${timeText(waiting.sinceMs)}.`;
  const isKnown = accounts === null || accounts.some((account) => isFolderOf(account, name));
  if (!isKnown) return [warning("inbox", what, "Its name is not that of an account. Rename it, or move its files.")];
  try {
    settingsIn(path);
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    return [warning("inbox", what, `Its import.json is wrong: ${cause.sentence}`)];
  }
  const advice = `Check that INBOX is imported (bun start or ${adminCommand} inbox), and see its log for the reason.`;
  return [nowMs - waiting.sinceMs > maxWaitMs ? warning("inbox", what, advice) : fine("inbox", what)];
}

function checkSpool(folders: readonly FolderQueue[], nowMs: number): Finding[] {
  const { bytes, sinceMs } = total(folders, "waiting");
  const settled = lookAtSettled("spool", folders);
  if (sinceMs === null) return [fine("spool", "No delivery is pending."), ...settled];
  const what = `${bytesText(bytes)} of deliveries are pending, the oldest since ${timeText(sinceMs)}.`;
  const advice = `Start ${adminCommand} receive. If it runs, see its log for the reason.`;
  return [nowMs - sinceMs > maxWaitMs ? warning("spool", what, advice) : fine("spool", what), ...settled];
}

/** Reports failed files and rejected rows. A file that is moved back is imported again, in the inbox and in the spool alike. */
function lookAtSettled(thing: string, folders: readonly FolderQueue[]): Finding[] {
  return folders.flatMap(({ path, failed, rejected }) => {
    const where = ({ count, sinceMs }: Pending, own: string) =>
      `${grouped(count)} in ${join(path, own)}, since ${timeText(sinceMs ?? 0)}.`;
    return onlyFound(
      failed.count > 0 &&
        warning(
          thing,
          `Files that could not be read: ${where(failed, "failed")}`,
          `The .txt next to each gives the reason. Correct the file and move it back to ${path}, or delete both.`,
        ),
      rejected.count > 0 &&
        warning(
          thing,
          `Rejected rows: ${where(rejected, "rejected")}`,
          `Each row gives its reason. Correct the rows and move the file back to ${path}, or delete it.`,
        ),
    );
  });
}

const filesText = counted("file");
const timeText = (ms: number) => formatTime(Math.floor(ms));
