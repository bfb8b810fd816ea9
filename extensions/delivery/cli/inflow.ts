/** Leads that come by themselves: when the last ones came, what waits for its import, and what could not be read. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { broken, type Examined, type Finding, fine, warning } from "../../../src/cli/doctor/finding.ts";
import { andMore, bytesText } from "../../../src/cli/terminal/numbers.ts";
import { dayMs } from "../../../src/contract/calendar.ts";
import { writeMoment } from "../../../src/contract/time.ts";
import { adminCommand } from "../../../src/program-name.ts";
import { spoolOf } from "../../../src/store/database-files.ts";
import type { AccountInflow } from "../../../src/store/examination.ts";
import { type Backlog, readBacklog } from "../inbox/backlog.ts";

/** Where leads come by themselves and none has come for this many days, something has stopped. */
const quietDays = 3;
const accountsShown = 3;
/** Deliveries wait a minute. An import of many leads takes some more. */
const longestWaitMs = 15 * 60_000;

/** Looks at the inbox and at what vendors have delivered. */
export function lookAtInflow({ path, config, examination: found, nowMs }: Examined): Finding[] {
  const spool = spoolOf(path);
  const inbox = config?.inbox ?? null;
  return [
    ...(found.kind === "read" ? [lookAtImports(found.contents.inflows, inbox, nowMs)] : []),
    ...(inbox === null ? [] : lookAtInbox(inbox)),
    ...(isFolder(spool) ? lookAtSpool(readBacklog(spool), nowMs) : []),
  ];
}

function lookAtImports(inflows: readonly AccountInflow[], inbox: string | null, nowMs: number): Finding {
  const fed = inflows.toSorted((one, other) => lastOf(other) - lastOf(one)).filter((one) => lastOf(one) > 0);
  const [last] = fed;
  if (last === undefined) return fine("imports", "No import has brought a lead yet.");
  // The vendor who stopped last is the one whom somebody may still wait for.
  const quiet = fed.filter((one) => comesByItself(one, inbox) && nowMs - lastOf(one) > quietDays * dayMs);
  if (quiet.length === 0) return fine("imports", `The last leads came in at ${writeMoment(lastOf(last))}.`);
  const named = quiet.slice(0, accountsShown).map((one) => `${one.name} (the last at ${writeMoment(lastOf(one))})`);
  const all = named.join(", ") + andMore(quiet.length, accountsShown);
  const advice = `See whether the vendor still sends, and whether ${adminCommand} inbox or receive runs.`;
  return warning("imports", `No lead in ${quietDays} days: ${all}.`, advice);
}

const lastOf = ({ lastImportMs }: AccountInflow) => lastImportMs ?? 0;

/** Whether a vendor delivers to an account, or it has a folder in the inbox. */
function comesByItself({ id, name, hasSource }: AccountInflow, inbox: string | null): boolean {
  return hasSource || (inbox !== null && [id, name].some((folder) => isFolder(join(inbox, folder))));
}

function lookAtInbox(inbox: string): Finding[] {
  if (isFolder(inbox)) return lookAtFailed("inbox", readBacklog(inbox));
  const advice = "Make it, with a folder for each account in it; the server does not start like this.";
  return [broken("inbox", `INBOX is ${inbox}, and there is no such folder.`, advice)];
}

function lookAtSpool(backlog: Backlog, nowMs: number): Finding[] {
  const { bytes, sinceMs } = backlog;
  if (sinceMs === null) return [fine("spool", "No delivery waits for its import."), ...lookAtFailed("spool", backlog)];
  const what = `${bytesText(bytes)} of deliveries wait for their import, the oldest since ${writeMoment(Math.floor(sinceMs))}.`;
  const isLate = nowMs - sinceMs > longestWaitMs;
  const advice = `Start ${adminCommand} receive, which says why they are not imported.`;
  return [isLate ? warning("spool", what, advice) : fine("spool", what), ...lookAtFailed("spool", backlog)];
}

function lookAtFailed(thing: string, { failed }: Backlog): Finding[] {
  const advice = "The .txt beside each says why. Mend it and put it back where it was dropped, or remove both.";
  return failed.map(({ folder, files }) =>
    warning(thing, `Files that could not be read: ${files} in ${folder}.`, advice),
  );
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
