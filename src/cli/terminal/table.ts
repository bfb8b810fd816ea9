/** Tables that fit the terminal. */
import { printable } from "../../user-error.ts";
import { paint, paintCell } from "./output.ts";

/**
 * Returns rows under a header, in columns as wide as their content; `nothing` if there are no rows. Control characters are
 * shown as ?. A terminal gets the beginning of each line that does not fit, so the first columns are the most important ones.
 */
export function table(header: readonly string[], rows: readonly (readonly string[])[], nothing = ""): string {
  if (rows.length === 0) return nothing;
  const lines = [header, ...rows].map((row) => row.map(printable));
  const widths = header.map((_, column) => Math.max(...lines.map((cells) => Bun.stringWidth(cells[column] ?? ""))));
  const joined = lines.map((cells) => cells.map((cell, column) => pad(cell, widths[column] ?? 0)));
  const width = columnsOf(process.stdout) ?? Number.POSITIVE_INFINITY;
  const [titles = "", ...others] = joined.map((cells, line) => {
    return shorten((line === 0 ? cells : cells.map(paintCell)).join("  ").trimEnd(), width);
  });
  return [paint("bold", titles), ...others].join("\n");
}

/** The width of a terminal; null if the stream is none. */
export function columnsOf(stream: NodeJS.WriteStream): number | null {
  return stream.isTTY && stream.columns > 0 ? stream.columns : null;
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
