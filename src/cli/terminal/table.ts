/** Tables and labelled lines that fit the terminal. */
import { printable } from "../../user-error.ts";
import { paint, paintCell } from "./output.ts";

/** The least width of the last column. Where even that does not fit, rows become blocks. */
const leastLast = 12;

/**
 * Rows under a header, in columns as wide as their content. Control characters are shown as ?. On a narrow terminal the
 * last column is cut, then `lesser` columns are left out; on a very narrow one each row becomes a block of lines, with all
 * columns. Outside a terminal nothing is cut or left out.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | null = columnsOf(process.stdout),
  lesser: readonly string[] = [],
): string {
  const lines = [header, ...rows].map((row) => row.map(printable));
  const greater = lines.map((cells) => cells.filter((_, column) => !lesser.includes(header[column] ?? "")));
  return inColumns(lines, width) ?? inColumns(greater, width) ?? blocks(header, lines.slice(1));
}

/** Lines in columns, the header first; null where even the least of the last column does not fit. */
function inColumns(lines: readonly (readonly string[])[], width: number | null): string | null {
  const [header = []] = lines;
  const widths = header.map((_, column) => Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ""))));
  const last = widths.length - 1;
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  if (width !== null && before + (widths[last] ?? 0) > width) {
    if (width - before < Math.min(leastLast, widths[last] ?? 0)) return null;
    widths[last] = width - before;
  }
  const [titles = [], ...body] = lines.map((line) => line.map((cell, column) => pad(cell, widths[column] ?? 0)));
  const join = (cells: readonly string[]) => cells.join("  ").trimEnd();
  return [paint("bold", join(titles)), ...body.map((cells) => join(cells.map(paintCell)))].join("\n");
}

/** The table of a list, or a sentence where there is nothing in it: a header alone would look like a failure. */
export function listed(
  nothing: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  lesser: readonly string[] = [],
): string {
  return rows.length === 0 ? nothing : table(header, rows, columnsOf(process.stdout), lesser);
}

/** A cell as wide as its column, cut where it is wider. */
function pad(cell: string, width: number): string {
  const shown = Bun.stringWidth(cell) > width ? `${cut(cell, width - 1)}…` : cell;
  return shown + " ".repeat(Math.max(0, width - Bun.stringWidth(shown)));
}

/** The beginning of a text, up to a width. A wide character that does not fit whole is left out. */
function cut(text: string, width: number): string {
  const beginning = Bun.sliceAnsi(text, 0, width);
  return Bun.stringWidth(beginning) > width ? Bun.sliceAnsi(text, 0, width - 1) : beginning;
}

/** Each row as lines of a title and its value, an empty line between rows. */
function blocks(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widest = Math.max(...header.map((title) => Bun.stringWidth(title)));
  const line = (title: string, cell: string) => `${paint("bold", pad(title, widest))}  ${paintCell(cell)}`.trimEnd();
  return rows.map((row) => header.map((title, column) => line(title, row[column] ?? "")).join("\n")).join("\n\n");
}

/** A text behind a label. Its lines fit the terminal, and begin below one another. */
export function labelled(label: string, text: string): string {
  const terminalWidth = columnsOf(process.stderr) ?? 80;
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && label.length + line.length + 1 + word.length > terminalWidth) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return label + lines.join(`\n${" ".repeat(label.length)}`);
}

/** The width of a terminal; null where the stream goes elsewhere. */
export function columnsOf(stream: NodeJS.WriteStream): number | null {
  return stream.isTTY && stream.columns > 0 ? stream.columns : null;
}
