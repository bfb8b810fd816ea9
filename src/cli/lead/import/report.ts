/** The messages of an import about its rows: why some are rejected, what was left out, and what the counts mean. */

import type { Account } from "../../../db/accounts.ts";
import { emptyRow, warningLines } from "../../../import/map/lead.ts";
import type { ImportCounts } from "../../../import/new-lead.ts";
import type { FileRead } from "../../../import/reading.ts";
import type { MergeProgress } from "../../../import/write/import-record.ts";
import type { Passed } from "../../../privacy/sent/missed.ts";
import { adminCommand } from "../../../runtime/program-name.ts";
import { printable } from "../../../runtime/user-error.ts";
import { counted, grouped, leadsText } from "../../terminal/numbers.ts";
import { labelled } from "../../terminal/table.ts";
import type { ImportRequest } from "./options.ts";
import { acceptedTimes } from "./questions.ts";

const timeFlags =
  "--map COLUMN=identified_at reads another column, and --stamp arrival gives all leads the time of import.";

/** The reasons of the first rejected rows, and the number of empty ones. */
export function rejectionLines({ rejected, reasons }: FileRead["notes"]): string[] {
  const isOfTime = [...reasons.keys()].some((reason) => /\bits time\b(?!.*retention)/.test(reason));
  const lines = [
    ...rejected.map(({ line, reason }) => `Line ${line} was rejected: ${printable(reason)}.`),
    ...(isOfTime ? [`${acceptedTimes} ${timeFlags}`] : []),
  ];
  const empty = reasons.get(emptyRow);
  if (empty === undefined) return lines;
  const are = empty === 1 ? "1 rejected row is" : `${grouped(empty)} rejected rows are`;
  return [...lines, `${are} empty, as is common at the end of a spreadsheet. No data is lost.`];
}

/** The most frequent reason for rejection, without values of the row; undefined if no row was rejected. */
export function mostFrequentReason({ reasons }: FileRead["notes"]): string | undefined {
  return [...reasons].toSorted(([, one], [, other]) => other - one)[0]?.[0];
}

/** A warning as it is shown. */
export const warningText = (warning: string): string => `Warning: ${warning}`;

/** Returns a sentence for each kind of value that was left out of rows, and for each name in --map that is missing. */
export function warningsOf({ legacyLines, warnings }: FileRead["notes"], missing: readonly string[]): string[] {
  return [
    ...[...legacyLines].map(
      ([letters, count]) => `${grouped(count)} line${count === 1 ? " is" : "s are"} not UTF-8, and read as ${letters}.`,
    ),
    ...warningLines(warnings),
    ...missing.map((name) => `--map names ${JSON.stringify(name)}, but the file has no such name.`),
  ];
}

interface Merged extends MergeProgress {
  readonly account: Account;
}

/** The counts, each with its meaning. */
export function summaryText(imported: Merged, { rejects, dryRun }: ImportRequest): string {
  const { counts } = imported;
  const file = printable(rejects ?? "");
  const written = dryRun === true ? `an import writes them to ${file}` : `correct ${file} and import it`;
  const rejected = rejects === undefined ? "--rejects FILE saves them for correction" : written;
  // A stored lead is a duplicate for the next import, whatever its stamp.
  const shown = `--stamp arrival delivers them${dryRun === true ? "" : "; undo this import first"}`;
  const meanings: [keyof ImportCounts, string][] = [
    ["read", "rows in the file"],
    ["imported", "new leads, served from the next request on"],
    ["duplicates", duplicatesText(imported)],
    ["replaced", "were already stored and now have the new content"],
    ["moved", "had a time that was taken or in the future, and got the next free millisecond"],
    ["late", `are older than the newest lead, so polling clients missed them; ${shown}`],
    ["suppressed", "belong to an erased person, and were left out"],
    ["rejected", `were not imported; ${rejected}`],
  ];
  const listed = meanings.filter(([name]) => counts[name] > 0 || name === "read" || name === "imported");
  const width = Math.max(...listed.map(([name]) => grouped(counts[name]).length));
  const text = listed
    .map(([name, meaning]) => labelled(`${name.padEnd(11)}${grouped(counts[name]).padStart(width)}  `, meaning))
    .join("\n");
  if (dryRun === true) return `Nothing was changed. The import would give:\n${text}`;
  return [text, ...importText(imported)].join("\n");
}

/** The same lead again in the file is no lead that was stored before. */
function duplicatesText({ counts, repeated }: Merged): string {
  const stored = counts.duplicates - repeated;
  if (repeated === 0) return "were already stored and are unchanged";
  if (stored === 0) return "are the same lead again in this file, and were not added";
  return `were not added: ${grouped(repeated)} are the same lead again in this file, ${grouped(stored)} were already stored`;
}

function importText({ importNumber, overwritten, account }: Merged): string[] {
  if (importNumber === null) return [];
  // A shell would take a name with blanks or signs for something else.
  const named = /^[\w.-]+$/.test(account.name) ? account.name : account.id;
  const undo = `to undo it, run: ${adminCommand} import undo ${named} ${importNumber}`;
  const replaced = `it replaced ${leadsText(overwritten)} of other imports and cannot be undone`;
  return [`This is import ${importNumber}; ${overwritten > 0 ? replaced : undo}.`];
}

/** Returns how far back a client has to look. */
export function passedText({ label, prefix, late, overlapSeconds }: Passed): string {
  const client = printable(label ?? `${prefix}…`);
  return `Client ${client} missed ${grouped(late)} of them. Polling with an overlap of ${overlapText(overlapSeconds)} finds them.`;
}

/** A time rounded up, in the largest unit of which there are at least two. */
function overlapText(seconds: number): string {
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ] as const;
  const [name, length] = units.find(([, length]) => seconds >= 2 * length) ?? ["second", 1];
  return counted(name)(Math.ceil(seconds / length));
}
