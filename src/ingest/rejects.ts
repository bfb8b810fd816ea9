/** Rejected rows, written so that the file can be mended and imported as it is. */
import { closeSync, openSync, writeSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import { UserError } from "../operator/user-error.ts";
import { isRejectColumn, rejectColumns } from "./columns.ts";
import type { Format, Row } from "./row.ts";

export interface Rejects {
  add(row: Row, reason: string): void;
  close(): void;
}

/** Opens the file at once, so that a wrong name is known before anything is imported. */
export function openRejects(path: string): (format: Format, columnNames: () => readonly string[]) => Rejects {
  let file: number;
  try {
    file = openSync(path, "w");
  } catch {
    throw new UserError(
      `${path} cannot be written.`,
      "Check the folder of --rejects, and that this user may write in it.",
    );
  }
  return (format, columnNames) => {
    const write = format.kind === "csv" ? csvWriter(file, format.delimiter, columnNames) : ndjsonWriter(file);
    return { add: write, close: () => closeSync(file) };
  };
}

function ndjsonWriter(file: number): Rejects["add"] {
  return (row, reason) => {
    const [line, why] = rejectColumns;
    writeSync(file, `${JSON.stringify({ [line]: row.line, [why]: reason, row: row.source })}\n`);
  };
}

/** What must be mended before a row is read: cells too many, or a word that some are missing. */
function beyondHeader(source: Row["source"], width: number): readonly string[] {
  if (source.length < width) return ["fill in what is missing and delete this cell"];
  return [...source.slice(width)];
}

/** The same header and two more columns; what a row has beyond the header stays behind them, where it is refused again. */
function csvWriter(file: number, delimiter: string, columnNames: () => readonly string[]): Rejects["add"] {
  let begun = false;
  const writeRow = (cells: readonly string[]) =>
    writeSync(file, stringify([[...cells]], { delimiter, quoted_match: /[\r\n]/ }));
  return (row, reason) => {
    const names = columnNames();
    const kept = names.flatMap((name, position) => (isRejectColumn(name) ? [] : [position]));
    if (!begun) writeRow([...kept.map((position) => names[position] ?? ""), ...rejectColumns]);
    begun = true;
    const cells = kept.map((position) => row.source[position] ?? "");
    writeRow([...cells, String(row.line), reason, ...beyondHeader(row.source, names.length)]);
  };
}
