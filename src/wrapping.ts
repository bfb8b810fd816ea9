/** Breaks the lines of texts for a terminal between words. */
import { adminCommand } from "./program-name.ts";

/**
 * Breaks the lines of a text between words if the stream is a terminal, which would break them within words. Columns, JSON,
 * indented lines, and commands with a pipe stay as they are.
 */
export function wrapped(text: string, stream: NodeJS.WriteStream): string {
  const width = columnsOf(stream);
  if (width === null) return text;
  return text.replaceAll(/^(?![\s{[])(?!.*(?: {2}| \| )).+$/gm, (line) => wrapAt(width, line));
}

/** A command in a text, up to the end of its sentence, or an option with its value. */
const unbroken = new RegExp(
  `\\b(?:${adminCommand}|leadfile-admin|bun start|chmod|chown) .*?(?=[.,;:)]?$|[.,;:)] | \\()|--[\\w-]+ \\S+`,
  "gm",
);
/** Takes the place of a space that must not become a line break. */
const glue = "\u{e000}";

/** Breaks a text between words. A command stays on one line, so that it can be copied. */
export function wrapAt(width: number, text: string): string {
  return Bun.wrapAnsi(
    text.replaceAll(unbroken, (found) => found.replaceAll(" ", glue)),
    width,
  ).replaceAll(glue, " ");
}

/** The width of a terminal; null if the stream is none. */
export function columnsOf(stream: NodeJS.WriteStream): number | null {
  return stream.isTTY && stream.columns > 0 ? stream.columns : null;
}
