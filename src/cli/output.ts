/** What a command says: the result to standard output, all that is meant for a person's eyes to standard error. */

/** What a command works with, apart from the store. */
export interface Output {
  /** Whether standard output carries one JSON value and nothing else. */
  readonly json: boolean;
  /** The result: a value for machines, or its text for people. */
  result(value: unknown, text: string): void;
  /** A message, a warning or progress. */
  say(text: string): void;
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result: (value, text) => write(process.stdout, json ? JSON.stringify(value) : text),
    say: (text) => write(process.stderr, text),
  };
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (text !== "") stream.write(`${text}\n`);
}

/** Rows under a header, in columns as wide as their content; what could move the cursor of a terminal is shown as ?. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((row) => row.map(printable));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ""))));
  const pad = (cell: string, column: number) => cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

/** A text without characters that a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}
