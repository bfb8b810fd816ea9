/** JSON to rows: one object a line, or one document. Either may be a page of records. */
import { UserError } from "../../runtime/user-error.ts";
import { type Columns, maxColumns } from "../map/columns.ts";
import { readRecord } from "../map/record.ts";
import { maxPageBytes, maxRecordLength, type ReadRow, tooLarge } from "../row.ts";
import { lookAhead } from "./encoding.ts";
import { readPage } from "./json-pages.ts";
import { isObject, parseJson } from "./json-value.ts";

/** An object takes a hundred bytes and more, even an empty one. No page of leads has so many. */
const maxObjects = 1_000_000;
/** A new name takes about 300 bytes, with the shape of its object. No export has so many. */
const maxNames = 200_000;
/** A row has its text and its cells: all rows of a page would be several times the page. */
const rowsAtOnce = 2000;
/** Pages that were joined are in a list, or in a page of pages. */
const maxPageDepth = 4;

/** Rows in batches. A batch is what can be read without waiting for input. */
export type Groups = AsyncIterable<ReadRow[]> | Iterable<ReadRow[]>;

/** Reads text in whole lines; a line may hold a page of records. */
export async function* readLines(texts: AsyncIterable<string>, columns: Columns): AsyncGenerator<ReadRow[]> {
  let line = 0;
  function* rowsIn(text: string): Generator<ReadRow> {
    for (const one of text.replace(/\n$/, "").split("\n")) yield* readLine(one.trim(), ++line, columns);
  }
  for await (const text of texts) yield* inGroups(rowsIn(text));
}

/** Reads the rows of a document. Throws a UserError, with what makes lines of it, for one that cannot be read whole. */
export async function readDocument(texts: AsyncGenerator<string>, columns: Columns): Promise<Groups> {
  let bytes = 0;
  const isTooLarge = (pieces: readonly string[]) => (bytes += Buffer.byteLength(pieces.at(-1) ?? "")) > maxPageBytes;
  const { head, whole } = await lookAhead(texts, isTooLarge);
  const text = head.join("");
  const excess = isLarger(text) ? "8 MiB" : excessIn(text);
  const value = excess === null ? parseJson(text) : undefined;
  if (value !== undefined) return rowsOfDocument(value, columns, text.length);
  const [, second = ""] = text.trimStart().split("\n", 2);
  if (parseJson(second) !== undefined) return readLines(whole, columns);
  if (excess !== null) {
    throw new UserError(
      `This is one JSON document of more than ${excess}, not one object per line.`,
      "Convert it, with the path of its list for .data: jq -c '.data[]' FILE > leads.ndjson",
    );
  }
  throw new UserError(
    "This is neither one JSON document nor one object per line.",
    "Convert it: jq -c . FILE > leads.ndjson (which also shows where it is damaged or truncated).",
  );
}

/** Frees the bytes and the text of a large document first: its records take several times as much. */
function* rowsOfDocument(value: unknown, columns: Columns, size: number): Generator<ReadRow[]> {
  for (const group of inGroups(rowsOf(value, null, 1, columns))) {
    if (size > maxRecordLength) Bun.gc(true);
    yield group;
  }
}

function* inGroups(rows: Iterable<ReadRow>): Generator<ReadRow[]> {
  let group: ReadRow[] = [];
  for (const row of rows) {
    if (group.push(row) < rowsAtOnce) continue;
    yield group;
    group = [];
  }
  yield group;
}

/** Returns whether a text is larger than a page may be. */
function isLarger(text: string): boolean {
  return text.length > maxPageBytes / 3 && Buffer.byteLength(text) > maxPageBytes;
}

/** Returns a line of records that arrived at one time, which those without a time get. `records` is a JSON array. */
export function arrivalLine(arrivedMs: number, records: string): string {
  return `${arrivalStart}${arrivedMs},"records":${records}}`;
}

const arrivalStart = '{"arrived_ms":';

function* readArrival(value: Record<string, unknown>, line: number, columns: Columns): Generator<ReadRow> {
  const { arrived_ms: arrivedMs, records } = value;
  if (typeof arrivedMs !== "number" || !Array.isArray(records)) return yield* rowsOf(value, null, line, columns);
  for (const record of records) {
    for (const row of rowsOf(record, null, line, columns)) yield "reason" in row ? row : { ...row, arrivedMs };
  }
}

function readLine(text: string, line: number, columns: Columns): Iterable<ReadRow> {
  if (text === "") return [];
  if (isLarger(text)) return [{ line, reason: "it is larger than 8 MiB", source: text }];
  const excess = excessIn(text);
  if (excess !== null) return [{ line, reason: `it contains more than ${excess}`, source: text }];
  const value = parseJson(text);
  if (isObject(value) && text.startsWith(arrivalStart)) return readArrival(value, line, columns);
  // A line of a rejects file holds the line that was rejected.
  if (isObject(value) && "reject_reason" in value && typeof value["row"] === "string") {
    return readLine(value["row"], line, columns);
  }
  // Only a list can hold more records than one, and most lines have none.
  if (isObject(value) && !text.includes("[")) return [rowOf(value, text, line, columns, [])];
  return rowsOf(value, text, line, columns);
}

/** Returns what a text holds too many of to be parsed in little memory; null if it can be parsed. */
function excessIn(text: string): string | null {
  if (text.length > 2 * maxObjects) {
    let count = 0;
    for (let at = text.indexOf("{"); at !== -1; at = text.indexOf("{", at + 1)) count++;
    if (count > maxObjects) return "a million objects";
  }
  if (text.length < 5 * maxNames) return null;
  // Hashes, because the names would be a copy of the text. A match takes a whole string, or the time would be quadratic.
  const names = new Set<number>();
  for (const [, string = "", colon] of text.matchAll(/"([^"\\]*(?:\\.[^"\\]*)*)(?:"(\s*:)?)?/g)) {
    if (colon !== undefined) names.add(Bun.hash.crc32(string));
    if (names.size > maxNames) return `${maxNames.toLocaleString("en-US")} different names`;
  }
  return null;
}

/**
 * Returns the rows of a JSON value: one, or as many as its page has records. An item of a page is read like a line. Without
 * a text, the value is written once more.
 */
function* rowsOf(
  value: unknown,
  text: string | null,
  line: number,
  columns: Columns,
  parents: readonly string[] = [],
  depth = 0,
): Generator<ReadRow> {
  const page = depth < maxPageDepth ? readPage(value) : null;
  if (page !== null && "items" in page) {
    for (const item of page.items) yield* rowsOf(item, null, line, columns, page.parents, depth + 1);
    return;
  }
  const source = text ?? writeJson(value);
  if (source === null) yield { line, reason: "it is nested too deeply", source: "" };
  else if (page !== null) {
    const filters = page.lists.map((list) => `'.${list}[]'`).join(" or ");
    yield { line, reason: `it contains several lists of records; extract one with jq -c ${filters}`, source };
  } else if (isObject(value)) yield rowOf(value, source, line, columns, parents);
  else yield { line, reason: "it is not a JSON object", source };
}

/** Writes a value as JSON; null if it is nested so deep that the stack does not suffice. */
function writeJson(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    if (cause instanceof RangeError) return null;
    throw cause;
  }
}

/** A NUL, and no backslash in front of `u0000`. */
const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/;

function rowOf(record: object, source: string, line: number, columns: Columns, parents: readonly string[]): ReadRow {
  if (source.length > maxRecordLength) return { line, reason: tooLarge, source };
  if (source.includes("\\u0000") && escapedNul.test(source)) return { line, reason: "it contains a NUL", source };
  const { cells, layout, names } = readRecord(record, parents, columns);
  if (names > maxColumns) {
    return { line, reason: `it has more than ${maxColumns.toLocaleString("en-US")} names`, source };
  }
  return { line, cells, layout, source };
}
