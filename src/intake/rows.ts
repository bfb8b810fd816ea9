/** The rows of a file: CSV or NDJSON, told apart by how it begins. */
import { Refusal } from "../refusal.ts";
import type { Columns } from "./columns.ts";
import { readCsv } from "./csv.ts";
import { readNdjson } from "./ndjson.ts";
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
  if (/^\{\s*\n|^\[\s*[{\n\]]/.test(text)) {
    throw new Refusal(
      "This is one JSON document, not one object a line.",
      "Convert it: jq -c '.[]' FILE > leads.ndjson",
    );
  }
  const whole = prepend(head, chunks);
  if (text.startsWith("{")) return { format: { kind: "ndjson" }, groups: readNdjson(whole, columns) };
  const delimiter = delimiterOf(text);
  return { format: { kind: "csv", delimiter }, groups: readCsv(whole, columns, delimiter) };
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
