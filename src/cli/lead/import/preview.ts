/** Shows the columns of a file, sample leads, and the changes before the first lead is stored. Asks if the file looks wrong. */
import { type Lead, leadFields } from "../../../contract/lead.ts";
import { closestTo } from "../../../contract/similar.ts";
import { formatTime } from "../../../contract/time.ts";
import type { Columns } from "../../../import/map/columns.ts";
import { emptyRow } from "../../../import/map/lead.ts";
import { titleOf } from "../../../import/map/profiles.ts";
import { type ColumnReport, reportOn } from "../../../import/map/report.ts";
import type { Format } from "../../../import/parse/format.ts";
import type { FileRead } from "../../../import/reading.ts";
import type { StagedImport } from "../../../import/write/import.ts";
import type { Preview } from "../../../import/write/preview.ts";
import type { SampledLead } from "../../../import/write/staging.ts";
import { printable, UserError } from "../../../runtime/user-error.ts";
import { firstOf, grouped, rowsText } from "../../terminal/numbers.ts";
import { confirm } from "../../terminal/prompt.ts";
import { pad, table } from "../../terminal/table.ts";
import type { ImportRun } from "./options.ts";
import { rejectionLines, warningsOf, warningText } from "./report.ts";

/** The maximum number of columns in a message; a file can have thousands. */
const shownColumns = 40;
const maxNameLength = 80;

/**
 * Returns the lines that show the field of each column. Throws a UserError if a table has no known column, or lacks one that
 * --map names.
 */
export function announceColumns({ columns, file }: ImportRun, report: ColumnReport, format: Format): string {
  const names = columns.all.map(({ name }) => name);
  const isRow = looksLikeRow(names);
  const said = isRow
    ? "The first line looks like data, not like a header."
    : `Its columns are ${names.slice(0, shownColumns).map(shownName).join(", ")}.`;
  const [missing] = columns.missing();
  if (format.kind === "csv" && missing !== undefined) {
    // A first line that looks like data may contain personal data, which is not printed.
    const near = isRow ? null : closestTo(missing, names.slice(0, shownColumns));
    const meant = near === null ? "" : `Did you mean ${JSON.stringify(near)}? `;
    const what = `--map names the column ${JSON.stringify(missing)}, but the file has no such column.`;
    throw new UserError(what, `${meant}${said}`);
  }
  if (format.kind === "csv" && report.fields.size === 0) {
    throw new UserError("No column of the file was recognized.", `${said} ${adviceFor(names, isRow)}`);
  }
  const form = format.kind === "csv" ? "CSV" : "NDJSON";
  const vendor =
    columns.vendor === null ? "" : `, an export of ${titleOf(columns.vendor)} (--vendor none reads it by its names)`;
  const name = file === "-" ? "standard input" : printable(file);
  return `Reading ${name} as ${form}${vendor}.\n${columnsText(report)}`;
}

/** Returns what to do about a file without a known column. */
function adviceFor(names: readonly string[], isRow: boolean): string {
  if (isRow) return "Add a line with the column names above it, or delete it if it is a title.";
  const [only = ""] = names;
  const sign = names.length === 1 ? /[^\p{L}\p{N}\s_."'-]/u.exec(only)?.[0] : undefined;
  if (sign !== undefined) {
    const said = `Its header is one column: the cells seem to be separated by ${JSON.stringify(sign)}.`;
    return `${said} Save the file with a comma, semicolon, tab, or pipe between cells.`;
  }
  return "Check that the file is CSV with a header, or NDJSON. To map columns to fields, pass --map THEIRS=OURS.";
}

/** Returns which columns gave which field, those of most leads first, and which are not kept. */
export function columnsText({ fields, unmatched, maps, lacksTime }: ColumnReport): string {
  const rows = [...fields].flatMap(([field, names]) => columnRows(field, names));
  const lines = [
    rows.length === 0
      ? "No column was recognized. To map columns to fields, pass --map THEIRS=OURS."
      : table(["FIELD", "COLUMN"], rows),
    unmatched.length > 0 && `Not kept: ${firstOf(unmatched.map(shownName), shownColumns)}.`,
    maps.length > 0 && "To keep one of them, add:",
    ...maps.slice(0, shownColumns).map((map) => `  ${printable(map)}`),
    lacksTime &&
      "No column has the time of the visit: leads get the time of import. To use a column, pass --map COLUMN=identified_at.",
  ];
  return `${lines.filter((line) => line !== false).join("\n")}\n`;
}

/** An address, a page, a phone, or a time is not the name of a column. It is personal data, and a log may keep it. */
function looksLikeRow(names: readonly string[]): boolean {
  return names.some((name) => /\S@\S|:\/\/|(?:\d\W{0,2}){6}/.test(name));
}

/** A line that is no header may have any length. */
function shownName(name: string): string {
  return printable(name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name);
}

/** One line where it fits a terminal, else one for each column. */
function columnRows(field: string, names: readonly string[]): string[][] {
  const inOne = names.join(", ");
  if (inOne.length <= 60) return names.length === 0 ? [] : [[field, inOne]];
  return names.map((name, position) => (position === 0 ? [field, name] : ["", name]));
}

/** Sample leads as they would be served. `isNew` is true if the account has never imported a file with these columns. */
interface Seen {
  readonly sample: readonly SampledLead[];
  readonly isNew: boolean;
}

/**
 * Prints the changes, the reasons why the file looks wrong, and the values that are left out. At a terminal, asks if the file
 * looks wrong or its columns are new to the account. Throws a UserError if the answer is no.
 */
export async function announcePreview(run: ImportRun, staged: StagedImport, read: FileRead, { sample, isNew }: Seen) {
  const { output, request, columns } = run;
  const report = reportOn(columns, request.stamp);
  const preview = await staged.preview(report.fields.has("id"));
  output.say(previewText(preview, read, run.pixels));
  const doubts = doubtsOf(run, report, preview, read);
  // Each delivery has its own columns, so a name in --map need not be among those of the last one.
  const missing = request.mode === "delivery" ? [] : columns.missing();
  const warnings = [...doubts, ...warningsOf(read.notes, missing)];
  for (const line of [...rejectionLines(read.notes), ...warnings.map(warningText)]) output.say(line);
  if (run.isAttended && (isNew || doubts.length > 0) && preview.leads > 0 && request.dryRun !== true) {
    output.say(`\n${sampleText(sample, columns)}\n`);
    await confirm("Import the file as shown?", {}, "Change the options as described above, or answer y.");
  }
  return { leads: preview.leads, warnings };
}

/** The limit of pixels that are named. */
const shownPixels = 5;

function previewText(
  { leads, untimed, oldestMs, newestMs, older }: Preview,
  { counts, pixels }: FileRead,
  known: ReadonlySet<string>,
): string {
  // New pixels are worth a look, so they come first.
  const inOrder = [...pixels.difference(known)].toSorted().concat([...pixels.intersection(known)].toSorted());
  const named = inOrder.map((pixel) => `${printable(pixel)}${known.has(pixel) ? "" : " (new)"}`);
  const late =
    older === 1
      ? "1 is older than the newest lead of the account: if it is new, polling clients miss it."
      : `${grouped(older)} are older than the newest lead of the account: ` +
        "polling clients miss those that are new.";
  const hasTimes = oldestMs !== null && newestMs !== null;
  const lines = [
    `Read ${rowsText(counts.read + leads)}: ${grouped(leads)} accepted, ${grouped(counts.rejected)} rejected.`,
    hasTimes && `Their times range from ${formatTime(oldestMs)} to ${formatTime(newestMs)}.`,
    untimed > 0 && `${grouped(untimed)} ${untimed === 1 ? "gets" : "get"} the time of import.`,
    pixels.size > 0 && `Pixel${pixels.size === 1 ? "" : "s"}: ${firstOf(named, shownPixels)}.`,
    older > 0 && late,
  ];
  return lines.filter((line) => line !== false).join("\n");
}

/** Returns the reasons why the file looks wrong, each with the option that changes it. */
function doubtsOf({ request, pixels }: ImportRun, report: ColumnReport, preview: Preview, read: FileRead): string[] {
  const { leads, sharingIds, takenIds, changedVisits, cutVisits, changedEmails } = preview;
  // Deliveries have different columns, and those of the last one say nothing about the others.
  const namesNobody = request.mode !== "delivery" && read.named === 0 && !report.fields.has("company");
  const [id = "id"] = report.fields.get("id") ?? [];
  const empty = read.notes.reasons.get(emptyRow) ?? 0;
  const rejected = read.counts.rejected - empty;
  const isMostlyRejected = rejected >= 10 && rejected * 2 >= read.counts.read - empty + leads;
  const hasOtherPixels = leads > 0 && pixels.size > 0 && read.pixels.isDisjointFrom(pixels);
  const doubts = [
    namesNobody && "no column has a name, an email address, a phone, or a company. To map one, pass --map THEIRS=OURS.",
    sharingIds > 0 &&
      `${grouped(sharingIds)} rows have the ID of another row, but another time or page: one lead per ID is kept. ` +
        `If the ID identifies the person, pass --map ${printable(id)}=- to keep all visits. If it looks like 1.23E+15, a ` +
        "spreadsheet has rounded it: import the vendor's original file.",
    takenIds > 0 &&
      `at least ${rowsText(takenIds)} with the ID of a stored lead, but another time or person: they are duplicates. ` +
        `If ${printable(id)} identifies the person or the line, pass --map ${printable(id)}=- to keep all visits.`,
    changedVisits > 0 &&
      `at least ${rowsText(changedVisits)} with the time, page, and visitor of a stored lead, but other content: both are ` +
        "kept. If they are the same visits, undo the earlier import, and import both files with " +
        "--identity email,page_url,identified_at --on-duplicate replace.",
    cutVisits > 0 &&
      `at least ${rowsText(cutVisits)} with the minute, page, and visitor of a stored lead: both are kept. The times of this ` +
        "file have no seconds: if a spreadsheet saved it, import the vendor's original file.",
    changedEmails > 0 &&
      `${grouped(changedEmails)} stored ${changedEmails === 1 ? "lead gets" : "leads get"} another email address because of ` +
        "--on-duplicate replace. If the IDs number the lines of the file and not visits, omit --on-duplicate.",
    isMostlyRejected && `${grouped(rejected)} rows are rejected. Check the reasons before you import the rest.`,
    hasOtherPixels &&
      "the account has other pixels, but none of this file. Check that the file belongs to this account.",
  ];
  return doubts.filter((doubt) => typeof doubt === "string");
}

/** The widths that fit a terminal of 80 columns, with two spaces between them and two before. */
const widths = { field: 14, value: 38, column: 22 };

/** Returns a block of lines for each lead, each field with the column that gave it. Fields that are null are one line. */
export function sampleText(sample: readonly SampledLead[], { origins }: Pick<Columns, "origins">): string {
  const ordinals = sample.length === 3 ? ["first", "middle", "last"] : ["first", "last"];
  return sample
    .map(({ lead, origin }, number) => {
      const title = sample.length === 1 ? "The lead" : `The ${ordinals[number] ?? "next"} lead`;
      return [`${title}, as it would be served:`, ...fieldLines(lead, origins.fieldsOf(origin))].join("\n");
    })
    .join("\n\n");
}

function fieldLines(lead: Lead, origins: ReturnType<Columns["origins"]["fieldsOf"]>): string[] {
  const given = leadFields.filter((field) => lead[field] !== null);
  const empty = leadFields.filter((field) => lead[field] === null);
  const lines = given.map((field) => {
    const from = origins.get(field)?.map(({ name }) => name) ?? [];
    const cells = [
      pad(field, widths.field),
      pad(printable(lead[field] ?? ""), widths.value),
      pad(printable(from.length === 0 ? (madeOf[field] ?? "") : from.join(" + ")), widths.column),
    ];
    return `  ${cells.join("  ")}`.trimEnd();
  });
  const indent = "        ";
  const others = Bun.wrapAnsi(empty.join(", "), 78 - indent.length).replaceAll("\n", `\n${indent}`);
  return empty.length === 0 ? lines : [...lines, `  null: ${others}`];
}

/** The origin of a field that no column holds. */
const madeOf: Readonly<Record<string, string>> = {
  id: "(generated)",
  identified_at: "(time of import)",
  pixel_id: "(--pixel)",
};
