/** The header of CSV: what its columns are called. */
import { UserError } from "../../../user-error.ts";
import { type Columns, isRejectColumn } from "../../map/columns/columns.ts";
import type { RawRecord } from "./record-reader.ts";

/** The cells of the header, trimmed; null for the columns of a rejects file, which have values where it stands once more. */
export type Header = readonly (string | null)[];

/** Throws a UserError where the header cannot be read: the line behind it is none. */
export function readHeader(record: RawRecord, columns: Columns): Header {
  const { line, cells } = record;
  if (cells === null) throw unreadableHeader(line, record.fault, "Mend that line, and import the file again.");
  if (cells.some((cell) => cell.includes("\0"))) {
    throw unreadableHeader(line, "it holds a NUL, as no text does", "Unpack the file, or save its table as CSV.");
  }
  const header = cells.map((cell) => cell.trim());
  for (const [position, text] of header.entries()) {
    const name = text === "" ? `(column ${position + 1})` : text;
    // The same name twice is two columns, which hold the same field.
    let unique = name;
    for (let number = position + 1; columns.names.includes(unique); number++) unique = `${name} (${number})`;
    columns.indexOf(unique, [text]);
  }
  columns.complete();
  return header.map((name) => (isRejectColumn(name) ? null : name));
}

function unreadableHeader(line: number, fault: string, advice: string): UserError {
  return new UserError(`The header, line ${line} of the file, cannot be read: ${fault}.`, advice);
}
