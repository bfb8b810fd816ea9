/** What a command says: the result to standard output, all that is meant for a person's eyes to standard error. */
import { fstatSync, statSync, writeSync } from "node:fs";
import { printable } from "../../operator/printable.ts";
import { UserError } from "../../operator/user-error.ts";
import { paint, paintCell } from "./paint.ts";

/** What a command works with, apart from the store. */
export interface Output {
  /** Whether standard output carries one JSON value and nothing else. */
  readonly json: boolean;
  /** The result: a value for machines, or its text for people. False when nobody reads it any more. */
  result(value: unknown, text: string): boolean;
  /** A message, a warning or progress. */
  say(text: string): void;
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result(value, text) {
      const said = json ? JSON.stringify(value) : text;
      return said === "" || print(`${said}\n`);
    },
    say(text) {
      if (text !== "") write(2, `${text}\n`);
    },
  };
}

/** Writes to standard output; false when the reader has had enough, as head does. Throws a UserError when it cannot. */
export function print(text: string): boolean {
  const code = write(1, text);
  if (code === null) return true;
  if (code === "EPIPE") return false;
  throw new UserError(`Standard output could not be written (${code}).`, "Check where it goes, and the space there.");
}

/** Whether nobody can ever read standard output: it is closed, or goes to /dev/null, which is what Bun opens instead. */
export function leadsNowhere(): boolean {
  try {
    const output = fstatSync(1);
    return output.isCharacterDevice() && output.rdev === statSync("/dev/null").rdev;
  } catch {
    return true;
  }
}

/** Writes at once and wholly, so that nothing is lost when the process ends; the code of the error if it fails. */
function write(file: 1 | 2, text: string): string | null {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(file, bytes, done);
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
      if (code !== "EAGAIN") return code;
      // The pipe is full; its reader needs a moment.
      Bun.sleepSync(1);
    }
  }
  return null;
}

/** How narrow the last column of a table may become before its rows are shown as blocks. */
const leastLast = 12;

/**
 * Rows under a header, in columns as wide as their content; what could move the cursor of a terminal is shown as ?.
 * On a terminal that is too narrow the last column is cut, and where that does not help each row becomes a block of
 * lines. What does not go to a terminal is never cut.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | null = columnsOf(process.stdout),
): string {
  const lines = [header, ...rows].map((row) => row.map(printable));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ""))));
  const last = widths.length - 1;
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  if (width !== null && before + (widths[last] ?? 0) > width) {
    if (width - before < Math.min(leastLast, widths[last] ?? 0)) return blocks(header, lines.slice(1));
    widths[last] = width - before;
  }
  const [titles = [], ...body] = lines.map((line) => line.map((cell, column) => pad(cell, widths[column] ?? 0)));
  const join = (cells: readonly string[]) => cells.join("  ").trimEnd();
  return [paint("bold", join(titles)), ...body.map((cells) => join(cells.map(paintCell)))].join("\n");
}

/** A cell as wide as its column, cut where it is wider. */
function pad(cell: string, width: number): string {
  const shown = Bun.stringWidth(cell) > width ? `${cut(cell, width - 1)}…` : cell;
  return shown + " ".repeat(Math.max(0, width - Bun.stringWidth(shown)));
}

/** The beginning of a text that is no wider; a wide character at the edge is left out. */
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

/** The columns of a terminal; null for what is none. */
function columnsOf(stream: NodeJS.WriteStream): number | null {
  return stream.isTTY && stream.columns > 0 ? stream.columns : null;
}

/** A text behind a label, broken into lines that fit the terminal and stand below one another. */
export function hang(label: string, text: string): string {
  const terminalWidth = columnsOf(process.stderr) ?? 80;
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && label.length + line.length + 1 + word.length > terminalWidth) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return label + lines.join(`\n${" ".repeat(label.length)}`);
}
