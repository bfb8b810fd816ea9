/** The rows of a file: CSV or NDJSON, told apart by how it begins. */

import { UserError } from "../../user-error.ts";
import type { Columns } from "../map/columns.ts";
import { maxRecordLength } from "../row.ts";
import { readCsv } from "./csv.ts";
import { lookAhead, prepend } from "./encoding.ts";
import { type Groups, parseJson, readDocument, readLines } from "./json.ts";

export type Format = { readonly kind: "ndjson" } | { readonly kind: "csv"; readonly delimiter: string };

export interface Rows {
  readonly format: Format;
  readonly groups: Groups;
}

/** Looks at the beginning of a UTF-8 text and reads it as what it is. */
export async function openRows(chunks: AsyncGenerator<Buffer>, columns: Columns): Promise<Rows> {
  const { head, rest, whole } = await lookAhead(chunks, (bytes) => bytes.toString("utf8").trim() !== "");
  const text = head.toString("utf8").trimStart();
  if (text === "") return { format: { kind: "ndjson" }, groups: [] };
  if (/^(?:\{|(?:\[\s*)+(?:[{\]]|$))/.test(text)) {
    const groups = beginsWithJsonLine(text) ? readLines(whole, columns) : await readDocument(whole, columns);
    return { format: { kind: "ndjson" }, groups };
  }
  if (/^\[\s*\[\s*[^[\]{\s]/.test(text)) {
    throw new UserError(
      "This is JSON with lists in the place of records.",
      "Convert it: jq -r '.[] | @csv' FILE > leads.csv",
    );
  }
  // Excel says the delimiter in a line of its own, before the header.
  const said = /^"?sep=(.)"?\r?\n/i.exec(text);
  const delimiter = said?.[1] ?? delimiterOf(text);
  const table = said === null ? whole : prepend(Buffer.from(text.slice(said[0].length)), rest);
  return { format: { kind: "csv", delimiter }, groups: readCsv(table, columns, delimiter, said === null ? 1 : 2) };
}

/** Whether the first line is JSON by itself. Half of a large page is not read for that: it would fill the memory. */
function beginsWithJsonLine(text: string): boolean {
  const end = text.indexOf("\n");
  if (end === -1) return text.length <= maxRecordLength && parseJson(text) !== undefined;
  return parseJson(text.slice(0, end)) !== undefined;
}

/** The delimiter that occurs most often in the header, outside quotes. */
function delimiterOf(text: string): string {
  const header = (/^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text)?.[0] ?? "").replaceAll(/"(?:[^"]|"")*"/g, "");
  const counted = [",", ";", "\t", "|"].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).delimiter;
}
