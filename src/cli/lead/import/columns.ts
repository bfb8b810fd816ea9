/** The field of each column of a file, as the person who imports sees it before the first row is staged. */
import { type LeadField, leadFields } from "../../../contract/lead.ts";
import type { Columns } from "../../../import/map/columns.ts";
import type { Target } from "../../../import/map/fields.ts";
import { type ColumnReport, reportOn } from "../../../import/map/report.ts";
import type { Format } from "../../../import/parse/format.ts";
import { printable, UserError } from "../../../user-error.ts";
import { andMore } from "../../terminal/numbers.ts";
import { table } from "../../terminal/table.ts";

/** At most this many columns are named; a file can have thousands. */
const shownColumns = 40;
const maxNameLength = 80;

/** Returns the field of each column. Throws a UserError if a table has no known column, or lacks one that --map names. */
export function announceColumns(columns: Columns, format: Format, file: string): string {
  const report = reportOn(columns);
  const names = columns.all.map(({ name }) => name);
  const isRow = looksLikeRow(names);
  const said = isRow
    ? "Its first line looks like a row, not like a header."
    : `Its columns are ${names.slice(0, shownColumns).map(shownName).join(", ")}.`;
  const [missing] = columns.missing();
  if (format.kind === "csv" && missing !== undefined) {
    throw new UserError(`--map names a column ${JSON.stringify(missing)}, which the file does not have.`, said);
  }
  if (format.kind === "csv" && report.matched.length === 0) {
    const advice = isRow
      ? "Put a line with the names of the columns above it, or delete it if it is a title."
      : "Check that it is CSV or NDJSON and begins with a header; --map says which column is which field.";
    throw new UserError("No column of the file was recognised.", `${said} ${advice}`);
  }
  return `Reading ${printable(file)} as ${format.kind === "csv" ? "CSV" : "NDJSON"}.\n${columnsText(report)}`;
}

/** Returns which column is read as which field, in order of preference, and which are not kept. */
function columnsText({ matched, unmatched, maps, remark }: ColumnReport): string {
  const of = (field: Target) => matched.find(({ target }) => target === field)?.names ?? [];
  const rows = withJoinedColumns(of).flatMap(({ field, names }) => columnRows(field, names));
  const shown = unmatched.slice(0, shownColumns).map(shownName).join(", ");
  const lines = [
    rows.length === 0
      ? "No column was recognised; --map theirs=ours says which is which."
      : table(["FIELD", "COLUMN"], rows),
    unmatched.length > 0 && `Not kept: ${shown}${andMore(unmatched.length, shownColumns)}.`,
    maps.length > 0 && "To keep one of them, add:",
    ...maps.slice(0, shownColumns).map((map) => `  ${printable(map)}`),
    of("country").length > 0 && `${printable(of("country").join(", "))} tells whether a state is one of the US.`,
    of("time_zone").length > 0 && `${printable(of("time_zone").join(", "))} tells the zone of times without an offset.`,
    of("identified_at").length === 0 &&
      "No column has the time of the visit: the leads get the time of import; --map theirs=identified_at names one.",
    remark !== null && `${printable(remark)}.`,
  ];
  return `${lines.filter((line) => line !== false).join("\n")}\n`;
}

interface FieldColumns {
  readonly field: string;
  readonly names: readonly string[];
}

/** An address, a page, a phone, or a time is not the name of a column. It is personal data, and a log may keep it. */
function looksLikeRow(names: readonly string[]): boolean {
  return names.some((name) => /\S@\S|:\/\/|(?:\d\W{0,2}){6}/.test(name));
}

/** A line that is no header may have any length. */
function shownName(name: string): string {
  return printable(name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name);
}

/** Columns that are joined are shown as one: first and last name, date and time of day. */
function withJoinedColumns(of: (field: Target) => readonly string[]): FieldColumns[] {
  const halves = [of("first_name"), of("last_name")].filter((names) => names.length > 0);
  const joined = halves.map((names) => names.join(" or ")).join(" + ");
  const columnsOf = (field: LeadField) => {
    if (field === "name") return [...of("name"), ...(joined === "" ? [] : [joined])];
    return field === "identified_at" ? withJoinedTime(of(field)) : of(field);
  };
  return leadFields.map((field) => ({ field, names: columnsOf(field) })).filter(({ names }) => names.length > 0);
}

/** By their names: the header is shown before the values are read. */
function withJoinedTime(names: readonly string[]): readonly string[] {
  const letters = (name: string) => name.replace(/\(.*\)/, "").replace(/[^a-z]/gi, "");
  const isClock = (name: string) => /(?:(?<!date)time|hour|clock|timeofday)$/i.test(letters(name));
  const clock = names.find(isClock);
  const date = names.find((name) => !isClock(name) && /(?:date|day)$/i.test(letters(name)));
  const isPreferred = names[0] === date || names[0] === clock;
  if (clock === undefined || date === undefined || !isPreferred) return names;
  return [`${date} + ${clock}`, ...names.filter((name) => name !== date && name !== clock)];
}

/** One line where it fits a terminal, else one for each column. */
function columnRows(field: string, names: readonly string[]): string[][] {
  const inOne = names.join(", then ");
  if (inOne.length <= 60) return [[field, inOne]];
  return names.map((name, position) => [position === 0 ? field : "", position === 0 ? name : `then ${name}`]);
}
