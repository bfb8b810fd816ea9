/** Leads that come by themselves: when the last ones came, what waits for its import, and what could not be read. */
import { statSync } from "node:fs";
import { dayMs, writeMoment } from "../../contract/time.ts";
import { type Backlog, readBacklog } from "../../inbox/backlog.ts";
import { adminCommand } from "../../operator/program-name.ts";
import { spoolOf } from "../../store/database-files.ts";
import type { Examination } from "../../store/examination.ts";
import { bytesText } from "../terminal/numbers.ts";
import { broken, type Finding, fine, warning } from "./finding.ts";

/** Where leads come by themselves and none has come for so many days, something has stopped. */
const quietDays = 3;
/** Deliveries wait a minute. An import of many leads takes some more. */
const longestWaitMs = 15 * 60_000;

/** Looks at the inbox, null where there is none, and at what vendors have delivered. */
export function lookAtInflow(path: string, inbox: string | null, found: Examination, nowMs: number): Finding[] {
  const spool = spoolOf(path);
  return [
    ...(found.kind === "read" ? [lookAtImports(found.contents, inbox, nowMs)] : []),
    ...(inbox === null ? [] : lookAtInbox(inbox)),
    ...(isFolder(spool) ? lookAtSpool(readBacklog(spool), nowMs) : []),
  ];
}

function lookAtImports(contents: ImportFacts, inbox: string | null, nowMs: number): Finding {
  const { lastImportMs, liveSources } = contents;
  if (lastImportMs === null) return fine("imports", "No import has brought a lead yet.");
  const what = `The last leads came in at ${writeMoment(lastImportMs)}.`;
  const comesByItself = inbox !== null || liveSources > 0;
  if (!comesByItself || nowMs - lastImportMs <= quietDays * dayMs) return fine("imports", what);
  const advice = `See whether the vendor still sends, and whether ${adminCommand} inbox or receive runs.`;
  return warning("imports", what, advice);
}

interface ImportFacts {
  readonly lastImportMs: number | null;
  readonly liveSources: number;
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
