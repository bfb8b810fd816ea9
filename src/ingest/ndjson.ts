/** NDJSON: one object a line, nested ones flattened to a path for each value. */
import type { Columns } from "./columns.ts";
import { splitLines } from "./encoding.ts";
import { largestRecord, type Row } from "./row.ts";
import type { Cell } from "./values.ts";

/** Objects within objects within objects: deeper than this is not an export. */
const deepest = 32;

/** Reads UTF-8 in whole lines. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>, columns: Columns): AsyncGenerator<Row[]> {
  let line = 0;
  for await (const chunk of chunks) {
    const rows: Row[] = [];
    for (const bytes of splitLines(chunk)) {
      line++;
      const text = bytes.toString("utf8").trim();
      if (text !== "") rows.push(readLine(text, line, columns));
    }
    yield rows;
  }
}

function readLine(text: string, line: number, columns: Columns): Row {
  if (text.length > largestRecord) return { line, cells: [], fault: "it is larger than 1 MiB", source: text };
  const parsed = parseObject(text);
  if (parsed === null) return { line, cells: [], fault: "it is not a JSON object", source: text };
  // A line of a rejects file holds the line that was rejected.
  const inner = "reject_reason" in parsed ? parsed["row"] : undefined;
  if (typeof inner === "string") return readLine(inner, line, columns);
  if (text.includes("\\u0000") && holdsNul(parsed)) return { line, cells: [], fault: "it holds a NUL", source: text };
  const cells: Cell[] = [];
  for (const { column, text } of valuesOf(parsed, [], columns)) {
    const present = cells[column];
    cells[column] = present === undefined ? text : [present, text].flat();
  }
  return { line, cells, fault: null, source: text };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = longNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A number that may have more digits than a number in memory keeps, such as an id. */
const longNumber = /[[:,]\s*-?\d{16}/;

function keepDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Value {
  readonly column: number;
  readonly text: string;
}

/** The values of an object that are of any use, each with the column of its path. */
function valuesOf(value: unknown, path: readonly string[], columns: Columns): Value[] {
  if (value === null || value === undefined || path.length > deepest) return [];
  if (Array.isArray(value)) return valuesOfList(value, path, columns);
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, item]) => valuesOf(item, [...path, name], columns));
  }
  const column = columns.indexOf(path.join("."), path);
  return columns.isKept(column) ? [{ column, text: String(value) }] : [];
}

/** Of a list with values of one kind all of them, else its first element that has any: two people must not mix. */
function valuesOfList(items: readonly unknown[], path: readonly string[], columns: Columns): Value[] {
  const elements = items
    .map((item) => valuesOf(item, path, columns))
    .filter((values) => values.some(({ text }) => text.trim() !== ""));
  const kinds = new Set(elements.flat().map(({ column }) => column));
  return kinds.size <= 1 ? elements.flat() : (elements[0] ?? []);
}

function holdsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  return typeof value === "object" && value !== null && Object.entries(value).flat().some(holdsNul);
}
