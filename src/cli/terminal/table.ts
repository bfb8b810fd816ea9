/** Tables and labelled lines that fit the terminal. */
import { columnsOf, wrapAt } from "../../runtime/process.ts";
import { printable } from "../../runtime/user-error.ts";
import { paint, paintCell } from "./output.ts";

/** If the last column does not even fit in this width, rows become blocks. */
const minLastWidth = 12;

/**
 * Returns rows under a header, in columns as wide as their content; `nothing` if there are no rows. Control characters are
 * shown as ?. On a narrow terminal the last column is cut, then `lesser` columns are left out. On a very narrow one, each
 * row becomes a block of lines with all columns.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  nothing = "",
  lesser: readonly string[] = [],
): string {
  if (rows.length === 0) return nothing;
  const width = columnsOf(process.stdout);
  const lines = [header, ...rows].map((row) => row.map(printable));
  const greater = lines.map((cells) => cells.filter((_, column) => !lesser.includes(header[column] ?? "")));
  return inColumns(lines, width) ?? inColumns(greater, width) ?? inBlocks(lines);
}

/** Returns the lines in columns; null if even the minimum of the last column does not fit. */
function inColumns([header = [], ...rows]: readonly (readonly string[])[], width: number | null): string | null {
  const widths = header.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? "")].map((cell) => Bun.stringWidth(cell))),
  );
  const last = widths.length - 1;
  const room = (width ?? Number.POSITIVE_INFINITY) - widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  if (room < Math.min(minLastWidth, widths[last] ?? 0)) return null;
  widths[last] = Math.min(widths[last] ?? 0, room);
  const padded = (cells: readonly string[]) => cells.map((cell, column) => pad(cell, widths[column] ?? 0));
  const join = (cells: readonly string[]) => cells.join("  ").trimEnd();
  return [paint("bold", join(padded(header))), ...rows.map((row) => join(padded(row).map(paintCell)))].join("\n");
}

/** Returns each row as lines of a title and its value, with an empty line between rows. */
function inBlocks([header = [], ...rows]: readonly (readonly string[])[]): string {
  const width = Math.max(...header.map((title) => Bun.stringWidth(title)));
  const line = (title: string, cell: string) => `${paint("bold", pad(title, width))}  ${paintCell(cell)}`.trimEnd();
  return rows.map((row) => header.map((title, column) => line(title, row[column] ?? "")).join("\n")).join("\n\n");
}

/** Cuts or fills a text to a number of columns. */
export function pad(cell: string, width: number): string {
  const shown = shorten(cell, width);
  return shown + " ".repeat(width - Bun.stringWidth(shown));
}

/** Cuts a text to a number of columns, of which a wide character takes two. */
function shorten(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  const beginning = Bun.sliceAnsi(text, 0, width - 1);
  // A wide character does not fit in half.
  return `${Bun.stringWidth(beginning) < width ? beginning : Bun.sliceAnsi(text, 0, width - 2)}…`;
}

/** Returns a text behind a label. On a terminal its lines break between words, and are aligned. */
export function labelled(label: string, text: string): string {
  const width = columnsOf(process.stdout);
  const lines = width === null ? text : wrapAt(Math.max(width - label.length, minLastWidth), text);
  return label + lines.replaceAll("\n", `\n${" ".repeat(label.length)}`);
}
