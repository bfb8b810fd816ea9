/** The rows of a file: CSV or NDJSON, distinguished by its beginning. */
import { UserError } from "../../runtime/user-error.ts";
import type { Columns } from "../map/columns.ts";
import { readCsv } from "./csv.ts";
import { linesOf, lookAhead, prepend } from "./encoding.ts";
import { type Groups, readDocuments, readLines } from "./json.ts";
import { isObject, parseJson } from "./json-value.ts";

/** The format of a file, which its rejects file has too. */
export type Format = { readonly kind: "ndjson" } | { readonly kind: "csv"; readonly delimiter: string };

/** Detects the format from the start of a text, and reads it. */
export async function openRows(
  texts: AsyncGenerator<string>,
  columns: Columns,
): Promise<{ readonly format: Format; readonly groups: Groups }> {
  // Only the newest text is examined: a file can begin with many blank lines.
  const { head, whole } = await lookAhead(texts, (pieces) => pieces.at(-1)?.trim() !== "");
  const text = head.join("").trimStart();
  if (text === "") return { format: { kind: "ndjson" }, groups: [] };
  if (/^(?:\{|(?:\[\s*)+(?:[{\]]|$))/.test(text)) {
    const groups = isOfLines(text) ? readLines(whole, columns) : readDocuments(whole, columns);
    return { format: { kind: "ndjson" }, groups };
  }
  if (/^\[\s*\[\s*[^[\]{\s]/.test(text)) {
    throw new UserError("This JSON has lists instead of objects.", "Convert it: jq -r '.[] | @csv' FILE > leads.csv");
  }
  // Excel writes the delimiter in a line of its own, before the header.
  const [line, named] = /^"?sep=(.)"?\r?\n/i.exec(text) ?? [];
  const delimiter = named ?? delimiterOf(text);
  const table = line === undefined ? whole : prepend([text.slice(line.length)], texts);
  return {
    format: { kind: "csv", delimiter },
    groups: readCsv(linesOf(table), columns, delimiter, line === undefined ? 1 : 2),
  };
}

/** Returns whether each line is JSON by itself: the first one is, or is damaged and followed by one that is. */
function isOfLines(text: string): boolean {
  const [first = "", second = "", third = ""] = text.split("\n", 3);
  if (parseJson(first) !== undefined) return true;
  // A list with one record in a line of its own ends in the third line.
  return first.startsWith("{") && isObject(parseJson(second)) && !/^\s*[\]}]/.test(third);
}

/** The delimiter that occurs most often in the header, outside quotes. */
function delimiterOf(text: string): string {
  const header = (/^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text)?.[0] ?? "").replaceAll(/"(?:[^"]|"")*"/g, "");
  const counted = [",", ";", "\t", "|"].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).delimiter;
}
