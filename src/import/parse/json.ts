/** JSON: one object a line, or one document, which may be a page of records. */
import { UserError } from "../../user-error.ts";
import { type Columns, maxColumns, noLayout } from "../map/columns.ts";
import { maxRecordLength, type Row } from "../row.ts";
import { newline, prepend, splitLines } from "./encoding.ts";
import { readPage } from "./json-pages.ts";
import { isObject, readValues } from "./json-values.ts";

/** A page of records is held in memory, many times its size. */
const largestPage = 8 * maxRecordLength;
/** An object takes a hundred bytes and more, even an empty one. No page of leads has so many. */
const maxObjects = 1_000_000;
/** A new name takes about 300 bytes, with the shape of its object. No export has so many. */
const maxNames = 200_000;
/** A row has its text and its cells: all rows of a page would be several times the page. */
const rowsAtOnce = 2000;
/** Pages that were joined stand in a list, or in a page of pages. */
const maxPageDepth = 4;

/** Rows in groups; a group is what could be read without waiting. */
export type Groups = AsyncIterable<Row[]> | Iterable<Row[]>;

/** Reads UTF-8 in whole lines; a line may hold a page of records. */
export async function* readLines(chunks: AsyncIterable<Buffer>, columns: Columns): AsyncGenerator<Row[]> {
  let line = 0;
  /** Whether the last line goes on in the next chunk: it is so long that it was rejected. */
  let isCut = false;
  function* linesOf(chunk: Buffer): Generator<Row> {
    for (const bytes of splitLines(chunk)) {
      const isRest = isCut;
      isCut = bytes.at(-1) !== newline;
      if (isRest) continue;
      line++;
      const text = bytes.toString("utf8").trim();
      if (text !== "") yield* readLine(text, line, columns);
    }
  }
  for await (const chunk of chunks) yield* inGroups(linesOf(chunk));
}

/** Reads the rows of a document. Throws a UserError, with what makes lines of it, for one that cannot be read whole. */
export async function readDocument(chunks: AsyncGenerator<Buffer>, columns: Columns): Promise<Groups> {
  const held: Buffer[] = [];
  let size = 0;
  for (let next = await chunks.next(); !next.done && size <= largestPage; next = await chunks.next()) {
    held.push(next.value);
    size += next.value.length;
  }
  const text = Buffer.concat(held).toString("utf8");
  const excess = size > largestPage ? "8 MiB" : excessIn(text);
  const value = excess === null ? parseJson(text) : undefined;
  if (value !== undefined) return ofDocument(value, columns, size);
  const [, second = ""] = text.trimStart().split("\n", 2);
  if (parseJson(second) !== undefined) return readLines(prepend(Buffer.concat(held), chunks), columns);
  if (excess !== null) {
    throw new UserError(
      `This is one JSON document of more than ${excess}, not one object a line.`,
      "Convert it, with the path of its list for .data: jq -c '.data[]' FILE > leads.ndjson",
    );
  }
  throw new UserError(
    "This is neither one JSON document nor one object a line.",
    "Convert it: jq -c . FILE > leads.ndjson (which also says where it is damaged or cut off).",
  );
}

/** Frees the bytes and the text of a large document first: its records take several times as much. */
function* ofDocument(value: unknown, columns: Columns, size: number): Generator<Row[]> {
  for (const group of inGroups(rowsOf(value, null, 1, columns))) {
    if (size > maxRecordLength) Bun.gc(true);
    yield group;
  }
}

/** Yields rows in groups, so that a page of many records does not fill the memory. */
function* inGroups(rows: Iterable<Row>): Generator<Row[]> {
  let group: Row[] = [];
  for (const row of rows) {
    if (group.push(row) < rowsAtOnce) continue;
    yield group;
    group = [];
  }
  yield group;
}

function readLine(text: string, line: number, columns: Columns): Iterable<Row> {
  if (text.length > largestPage) return [faulty("it is larger than 8 MiB", text, line)];
  const excess = excessIn(text);
  if (excess !== null) return [faulty(`it holds more than ${excess}`, text, line)];
  const value = parseJson(text);
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
  return hasTooManyNames(text) ? `${maxNames.toLocaleString("en-US")} different names` : null;
}

/** Counts the hashes of names, because the names themselves would be a copy of the text. */
function hasTooManyNames(text: string): boolean {
  if (text.length < 5 * maxNames) return false;
  const names = new Set<number>();
  let hash = 0;
  let isInString = false;
  for (let at = 0; at < text.length && names.size <= maxNames; at++) {
    const letter = text[at];
    if (letter === '"') {
      if (!isInString) hash = 0;
      isInString = !isInString;
    } else if (isInString) {
      hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
      if (letter === "\\") at++;
    } else if (letter === ":") names.add(hash);
  }
  return names.size > maxNames;
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
): Generator<Row> {
  const page = depth < maxPageDepth ? readPage(value, columns) : null;
  if (page !== null && "items" in page) {
    for (const item of page.items) yield* rowsOf(item, null, line, columns, page.parents, depth + 1);
    return;
  }
  const source = text ?? writeJson(value);
  if (source === null) yield faulty("it is nested too deep", "", line);
  else if (page !== null) {
    const filters = page.lists.map((list) => `'.${list}[]'`).join(" or ");
    yield faulty(`it holds several lists of records; take one with jq -c ${filters}`, source, line);
  } else
    yield isObject(value)
      ? rowOf(value, source, line, columns, parents)
      : faulty("it is not a JSON object", source, line);
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

function faulty(fault: string, source: string, line: number): Row {
  return { line, cells: [], layout: noLayout, fault, source };
}

/** A NUL, and no backslash in front of `u0000`. */
const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/;

function rowOf(record: object, source: string, line: number, columns: Columns, parents: readonly string[]): Row {
  if (source.length > maxRecordLength) return faulty("it is larger than 1 MiB", source, line);
  if (source.includes("\\u0000") && escapedNul.test(source)) return faulty("it holds a NUL", source, line);
  const { columns: own, cells, others, isExcessive } = readValues(record, parents, columns);
  if (isExcessive) return faulty(`it has more than ${maxColumns.toLocaleString("en-US")} names`, source, line);
  const row = { line, cells, layout: columns.layoutOf(own), fault: null, source };
  return others.size === 0 ? row : { ...row, others };
}

/** Parses JSON as numbers with all of their digits, such as IDs have; undefined for a text that is none. */
export function parseJson(text: string): unknown {
  try {
    return longNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A number that may have more digits than a number in memory keeps, such as an ID. */
const longNumber = /[[:,]\s*-?\d{16}/;

function keepDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
}
