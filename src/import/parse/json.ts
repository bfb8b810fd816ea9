/** Converts JSON to rows: one object per line, or one document. Either may be a page of records. */
import { UserError } from "../../runtime/user-error.ts";
import { type Columns, maxColumns } from "../map/columns.ts";
import { readPage } from "../map/document.ts";
import { readRecord } from "../map/record.ts";
import { maxPageLength, maxRecordLength, type ReadRow, tooLarge } from "../row.ts";
import { linesOf } from "./encoding.ts";
import { DocumentReader, maxPageDepth, rowsAtOnce, type ValueRules } from "./json-document.ts";
import { isObject, parseJson } from "./json-value.ts";

/** A long line is read in pieces of this length. */
const pieceLength = maxRecordLength / 4;

/** Rows in batches. A batch is what can be read without waiting for input. */
export type Groups = AsyncIterable<ReadRow[]> | Iterable<ReadRow[]>;

/** Reads one value per line; a line may hold a page of records. */
export async function* readLines(texts: AsyncIterable<string>, columns: Columns): AsyncGenerator<ReadRow[]> {
  let line = 0;
  function* rowsIn(text: string): Generator<ReadRow> {
    for (const one of text.replace(/\n$/, "").split("\n")) yield* readLine(one.trim(), ++line, columns);
  }
  for await (const text of linesOf(texts)) yield* inGroups(rowsIn(text));
}

/**
 * Reads documents of any size and in any number of lines. Throws a UserError if the text is no JSON, or if its records are not
 * in one list.
 */
export async function* readDocuments(texts: AsyncIterable<string>, columns: Columns): AsyncGenerator<ReadRow[]> {
  const reader = new DocumentReader(rulesWith(columns));
  for await (const text of texts) yield* reader.read(text, false);
  yield* reader.read("", true);
}

const rulesWith = (columns: Columns): ValueRules => ({
  pageOf: (value) => readPage(value, columns.root),
  rowsOf: (value, text, line, parents) => rowsOfValue(value, text, line, columns, parents),
});

function* inGroups(rows: Iterable<ReadRow>): Generator<ReadRow[]> {
  let group: ReadRow[] = [];
  for (const row of rows) {
    if (group.push(row) < rowsAtOnce) continue;
    yield group;
    group = [];
  }
  yield group;
}

/** Returns a line of records that arrived at one time, which those without a time get. `records` is a JSON array. */
export function arrivalLine(arrivedMs: number, records: string): string {
  return `${arrivalStart}${arrivedMs},"records":${records}}`;
}

const arrivalStart = '{"arrived_ms":';

function readLine(text: string, line: number, columns: Columns): Iterable<ReadRow> {
  if (text === "") return [];
  if (text.length > maxRecordLength) return readLongLine(text, line, columns);
  return rowsOfValue(parseJson(text), text, line, columns, []);
}

/** Reads a line that is larger than a record, so it is a page. As one value, it would take many times its length in memory. */
function* readLongLine(text: string, line: number, columns: Columns): Generator<ReadRow> {
  if (text.length > maxPageLength) return yield { line, reason: "it is larger than 8 MiB", source: text };
  const reader = new DocumentReader(rulesWith(columns), line);
  let rows = 0;
  try {
    for (let at = 0; at < text.length; at += pieceLength) {
      for (const some of reader.read(text.slice(at, at + pieceLength), at + pieceLength >= text.length)) {
        rows += some.length;
        yield* some;
      }
    }
  } catch (cause) {
    if (!(cause instanceof UserError) || rows > 0) throw cause;
    yield { line, reason: text.startsWith("{") ? tooLarge : "it is not a JSON object", source: text };
  }
}

/** Returns the rows of a value with its text: a line, or an item of a list. */
function rowsOfValue(
  value: unknown,
  text: string,
  line: number,
  columns: Columns,
  parents: readonly string[],
): Iterable<ReadRow> {
  if (!isObject(value)) return rowsOf(value, text, line, columns, parents);
  const { row, arrived_ms: arrivedMs, records } = value;
  // A line of a rejects file holds the line that was rejected.
  if (typeof row === "string" && "reject_reason" in value) return readLine(row, line, columns);
  if (text.startsWith(arrivalStart) && typeof arrivedMs === "number" && Array.isArray(records)) {
    const rows = records.flatMap((record) => [...rowsOf(record, null, line, columns)]);
    return rows.map((row) => ("reason" in row ? row : { ...row, arrivedMs }));
  }
  // Only a value with a list can hold more than one record, and most records have no list.
  return text.includes("[")
    ? rowsOf(value, text, line, columns, parents)
    : [rowOf(value, text, line, columns, parents)];
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
  const page = depth < maxPageDepth ? readPage(value, columns.root) : null;
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
  const read = readRecord(record, parents, columns);
  if (read !== null) return { line, ...read, source };
  return { line, reason: `it has more than ${maxColumns.toLocaleString("en-US")} names`, source };
}
