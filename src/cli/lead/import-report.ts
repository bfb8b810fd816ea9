/** What an import says of itself: before it starts which column is what, in the end what the counts mean. */
import { leadFields } from "../../contract/lead.ts";
import type { Target } from "../../ingest/columns/aliases.ts";
import type { ColumnReport } from "../../ingest/columns/report.ts";
import type { Format } from "../../ingest/file/format.ts";
import type { Warning } from "../../ingest/lead/details.ts";
import { printable } from "../../operator/printable.ts";
import { adminCommand } from "../../operator/program-name.ts";
import type { ImportCounts, RejectedRow } from "../../store/imports.ts";
import { grouped } from "../terminal/numbers.ts";
import { labelled, table } from "../terminal/table.ts";

/** Which column is read as which field, in order of preference, and which are not kept. */
export function columnsText({ matched, unmatched, remark }: ColumnReport, format: Format): string {
  const rows = withWholeNames(matched).flatMap(({ field, names }) => columnRows(field, names));
  const read =
    rows.length === 0
      ? "No column was recognised; --map theirs=ours says which is which."
      : table(["FIELD", "COLUMN"], rows);
  const shown = unmatched.slice(0, shownColumns).map(printable).join(", ");
  const more = unmatched.length > shownColumns ? ` and ${grouped(unmatched.length - shownColumns)} more` : "";
  const left = unmatched.length === 0 ? "" : `\nNot kept: ${shown}${more}.`;
  const untimed = matched.some(({ target }) => target === "identified_at")
    ? ""
    : "\nNo column has the time of the visit: the leads get the time of import.";
  const said = remark === null ? "" : `\n${printable(remark)}.`;
  const helped = helping.flatMap(([target, does]) =>
    matched.filter((entry) => entry.target === target).map(({ names }) => `\n${printable(names.join(", "))} ${does}.`),
  );
  return `Reading ${format.kind === "csv" ? "CSV" : "NDJSON"}.\n${read}${left}${helped.join("")}${untimed}${said}\n`;
}

/** Columns that are no field of a lead, and what they are read for. */
const helping: readonly (readonly [Target, string])[] = [
  ["country", "tells whether a state is one of the US"],
  ["time_zone", "tells the zone of times without an offset"],
];

interface FieldColumns {
  readonly field: string;
  readonly names: readonly string[];
}

/** First and last names are told with the field that they make. */
function withWholeNames(matched: ColumnReport["matched"]): FieldColumns[] {
  const of = (target: string) => matched.find((entry) => entry.target === target)?.names ?? [];
  const halves = [of("first_name"), of("last_name")]
    .filter((names) => names.length > 0)
    .map((names) => names.join(" or "));
  const whole = [...of("name"), ...(halves.length === 0 ? [] : [halves.join(" + ")])];
  return leadFields
    .map((field) => ({ field, names: field === "name" ? whole : of(field) }))
    .filter(({ names }) => names.length > 0);
}

/** One line where it fits a terminal, else one for each column. */
function columnRows(field: string, names: readonly string[]): string[][] {
  const inOne = names.join(", then ");
  if (inOne.length <= 60) return [[field, inOne]];
  return names.map((name, position) => [position === 0 ? field : "", position === 0 ? name : `then ${name}`]);
}

/** Collects what deserves a word once the import is through. */
export interface Notes {
  readonly legacyLine: () => void;
  readonly onWarning: (warning: Warning) => void;
  readonly onReject: (row: RejectedRow) => void;
  /** All that was collected, and the names in --map that were missing. */
  lines(missing: readonly string[]): string[];
}

const shownRejects = 5;
/** Of columns that are not kept; a file can have thousands. */
const shownColumns = 40;

/** What was left out of rows, in the words of whoever owns the file. */
const leftOut: readonly (readonly [Warning, string])[] = [
  ["state", "with a state that is none of the US; it was left out"],
  ["country", "with a state in another country than the US; the state was left out"],
  ["email", "with an e-mail address that is none; it was left out"],
  ["beside email", "with more in a cell than e-mail addresses; the first address was kept"],
  ["phone", "with a phone number that is none; it was left out"],
  ["beside phone", "with more in a cell than one phone number; the first number was kept"],
];

export function createNotes(): Notes {
  let legacyLines = 0;
  const warnings = new Map<Warning, number>();
  const rejects: string[] = [];
  return {
    legacyLine: () => void legacyLines++,
    onWarning: (kind) => void warnings.set(kind, (warnings.get(kind) ?? 0) + 1),
    onReject({ line, reason }) {
      if (rejects.length < shownRejects) rejects.push(`Line ${line} was rejected: ${printable(reason)}.`);
    },
    lines: (missing) => [
      ...rejects,
      ...warning(legacyLines, "line", "not in UTF-8; read as Windows-1252"),
      ...leftOut.flatMap(([kind, text]) => warning(warnings.get(kind) ?? 0, "row", text)),
      ...missing.map((name) => `Warning: --map names ${JSON.stringify(name)}, which nothing in the file is called.`),
    ],
  };
}

function warning(count: number, what: string, text: string): string[] {
  return count === 0 ? [] : [`Warning: ${grouped(count)} ${what}${count === 1 ? "" : "s"} ${text}.`];
}

interface Asked {
  readonly rejects?: string;
  readonly dryRun?: boolean;
}

/** The counts, each with what it means for whoever reads it. */
export function summaryText(counts: ImportCounts, batch: number | null, { rejects, dryRun }: Asked): string {
  const rejected =
    rejects === undefined ? "--rejects FILE keeps them to be mended" : `mend ${rejects} and import it as it is`;
  const meanings: [keyof ImportCounts, string][] = [
    ["read", "rows in the file"],
    ["imported", "new leads, served from the next request on"],
    ["duplicates", "were there already and were left as they are"],
    ["replaced", "were there already and have the new content now"],
    ["moved", "share their millisecond with another lead and lie up to the next free one later"],
    ["late", "are older than the newest lead was: clients that poll have passed them; --stamp arrival would show them"],
    ["suppressed", "belong to somebody who was erased, and stay out"],
    ["rejected", `were not imported; ${rejected}`],
  ];
  const shown = meanings.filter(([name]) => counts[name] > 0 || name === "read" || name === "imported");
  const width = Math.max(...shown.map(([name]) => grouped(counts[name]).length));
  const text = shown
    .map(([name, meaning]) => labelled(`${name.padEnd(11)}${grouped(counts[name]).padStart(width)}  `, meaning))
    .join("\n");
  if (dryRun === true) return `Nothing was changed. An import would give:\n${text}`;
  return batch === null ? text : `${text}\nThis is import ${batch}; ${adminCommand} import undo takes it back.`;
}
