/** The rows of a file: CSV or NDJSON, told apart by how it begins. */
import { UserError } from "../operator/user-error.ts";
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
  refuseOther(text);
  if (text.startsWith("{")) {
    return { format: { kind: "ndjson" }, groups: readNdjson(prepend(head, chunks), columns) };
  }
  // Excel says the delimiter in a line of its own, before the header.
  const said = /^"?sep=(.)"?\r?\n/i.exec(text);
  const table = said === null ? head : Buffer.from(text.slice(said[0].length));
  const delimiter = said?.[1] ?? delimiterOf(text);
  const groups = readCsv(prepend(table, chunks), columns, delimiter, said === null ? 1 : 2);
  return { format: { kind: "csv", delimiter }, groups };
}

/** Lists in which a page of an API holds its records. */
const listNames = ["data", "events", "leads", "visitors", "results", "items", "records", "rows"];

/** Throws a UserError for a text that is neither a table nor one object a line. */
function refuseOther(text: string): void {
  const inList = listInFirstLine(text);
  if (inList === null && !/^\{\s*\n|^\[\s*[{\n\]]/.test(text)) return;
  const filter = inList === null || inList === "" ? ".[]" : `.${inList}[]`;
  throw new UserError(
    "This is one JSON document, not one object a line.",
    `Convert it: jq -c '${filter}' FILE > leads.ndjson`,
  );
}

/** The name of the list that the object in the first line holds its records in; null when it is a record itself. */
function listInFirstLine(text: string): string | null {
  if (!text.startsWith("{")) return null;
  try {
    const first: unknown = JSON.parse(text.split("\n", 1)[0] ?? "");
    const entries = typeof first === "object" && first !== null ? Object.entries(first) : [];
    const list = entries.find(([name, value]) => listNames.includes(name) && isListOfObjects(value));
    return list?.[0] ?? null;
  } catch {
    return null;
  }
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && typeof value[0] === "object" && value[0] !== null;
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
