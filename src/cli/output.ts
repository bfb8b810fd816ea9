/** What a command says: the result to standard output, all that is meant for a person's eyes to standard error. */

import { writeSync } from "node:fs";
import { inOwnWords } from "../own-words.ts";
import { Refusal } from "../refusal.ts";

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
      if (text !== "") write(2, `${inOwnWords(text)}\n`);
    },
  };
}

/** Writes to standard output; false when the reader has had enough, as head does. Throws a Refusal when it cannot. */
export function print(text: string): boolean {
  const code = write(1, text);
  if (code === null) return true;
  if (code === "EPIPE") return false;
  throw new Refusal(`Standard output could not be written (${code}).`, "Check where it goes, and the space there.");
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

const terminalWidth = 80;

/** A text behind a label, broken into lines that fit a terminal and stand below one another. */
export function hang(label: string, text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && label.length + line.length + 1 + word.length > terminalWidth) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return label + lines.join(`\n${" ".repeat(label.length)}`);
}
