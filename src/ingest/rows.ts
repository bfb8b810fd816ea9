/** The rows of a file: CSV or NDJSON, told apart by how it begins. */
import type { Columns } from "./columns.ts";
import { readCsv } from "./csv.ts";
import { readDocument } from "./document.ts";
import { parseJson, readNdjson } from "./ndjson.ts";
import type { Format, Row } from "./row.ts";

export interface Rows {
  readonly format: Format;
  /** Rows in groups; a group is what could be read without waiting. */
  readonly groups: AsyncGenerator<Row[]>;
}

/** Looks at the beginning of a UTF-8 text and reads it as what it is; null for a text without anything in it. */
export async function openRows(chunks: AsyncGenerator<Buffer>, columns: Columns): Promise<Rows | null> {
  let head = Buffer.alloc(0);
  while (head.toString("utf8").trim() === "") {
    const next = await chunks.next();
    if (next.done) return null;
    head = Buffer.concat([head, next.value]);
  }
  const text = head.toString("utf8").trimStart();
  if (/^(?:\{|\[\s*(?:[{\]]|$))/.test(text)) {
    const bytes = prepend(head, chunks);
    const groups = beginsWithJsonLine(text) ? readNdjson(bytes, columns) : await readDocument(bytes, columns);
    return { format: { kind: "ndjson" }, groups };
  }
  // Excel says the delimiter in a line of its own, before the header.
  const said = /^"?sep=(.)"?\r?\n/i.exec(text);
  const table = said === null ? head : Buffer.from(text.slice(said[0].length));
  const delimiter = said?.[1] ?? delimiterOf(text);
  const groups = readCsv(prepend(table, chunks), columns, delimiter, said === null ? 1 : 2);
  return { format: { kind: "csv", delimiter }, groups };
}

/** Whether the first line is JSON by itself. */
function beginsWithJsonLine(text: string): boolean {
  return parseJson(text.split("\n", 1)[0] ?? "") !== undefined;
}

/** The delimiter that occurs most often in the header, outside quotes. */
function delimiterOf(text: string): string {
  const header = (/^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text)?.[0] ?? "").replaceAll(/"(?:[^"]|"")*"/g, "");
  const counted = [",", ";", "\t", "|"].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).delimiter;
}

async function* prepend(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}
