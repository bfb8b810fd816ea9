/** NDJSON: one object a line, nested ones flattened to a path for each value. */

import type { Columns } from "../../map/columns/columns.ts";
import { mostColumns, TooManyColumns } from "../../map/columns/too-many-columns.ts";
import { largestRecord, type Row } from "../../row.ts";
import type { Cell } from "../cell.ts";
import { recordsFilter } from "../jq.ts";
import { splitLines } from "../lines.ts";
import { excessIn, isNestedTooDeep } from "./bounds.ts";
import { isObject, valuesOf } from "./flatten.ts";
import { inGroups } from "./groups.ts";
import { readPage } from "./pages.ts";
import { tableFault } from "./table.ts";

/** A page of records is held in memory, many times its size. */
export const largestPage = 8 * largestRecord;

/** Reads UTF-8 in whole lines; a line may hold a page of records. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>, columns: Columns): AsyncGenerator<Row[]> {
  const { startAnew } = columns;
  let line = 0;
  function* linesOf(chunk: Buffer): Generator<Line> {
    for (const bytes of splitLines(chunk)) {
      line++;
      const text = bytes.toString("utf8").trim();
      if (text !== "") yield { text, line };
    }
  }
  for await (const chunk of chunks) {
    const lines = linesOf(chunk);
    if (startAnew === null) yield* inGroups(lines.map(({ text, line }) => readLine(text, line, columns)));
    // A group of its own: when the next line is read, nobody needs the columns of this one any more.
    else yield* lines.map((line) => readDelivery(line, columns, startAnew));
  }
}

interface Line {
  readonly text: string;
  readonly line: number;
}

/** The rows of a line whose names have nothing to do with those of other lines. */
function readDelivery({ text, line }: Line, columns: Columns, startAnew: () => void): Row[] {
  function read(): Row[] | null {
    try {
      return [...readLine(text, line, columns)];
    } catch (cause) {
      if (cause instanceof TooManyColumns) return null;
      throw cause;
    }
  }
  const rows = read();
  if (rows !== null) return rows;
  startAnew();
  return read() ?? [faulty(`it has more than ${mostColumns.toLocaleString("en-US")} names`, text, line)];
}

function readLine(text: string, line: number, columns: Columns): Iterable<Row> {
  if (text.length > largestPage) return [faulty("it is larger than 8 MiB", text, line)];
  const excess = excessIn(text);
  if (excess !== null) return [faulty(`it holds more than ${excess}`, text, line)];
  if (isNestedTooDeep(text)) return [faulty("it is nested more than a thousand levels deep", text, line)];
  const value = parseJson(text);
  // A line of a rejects file holds the line that was rejected.
  if (isObject(value) && "reject_reason" in value && typeof value["row"] === "string") {
    return readLine(value["row"], line, columns);
  }
  return rowsOfText(text, value, line, columns, nothingAround);
}

/** Only a list of objects, an empty one, or an object within can make more of a text than a record. */
const mayHoldMore = /\[\s*[{\]]|":\s*\{/;
const notAnObject = "it is not a JSON object";

/** The page that an item lies in. */
interface Around {
  /** How many pages lie around the item. */
  readonly depth: number;
  /** What gives its items, for jq. */
  readonly filter: string;
  /** What its values are said to be of, in front of their own names. */
  readonly path: readonly string[];
}

const nothingAround: Around = { depth: 0, filter: "", path: [] };
/** Pages that were joined lie in a list, or in a page of pages. */
const deepestPage = 4;

/** The rows of a JSON value: one, or as many as its page has records. An item of a page is read like a line. */
export function* rowsOf(
  value: unknown,
  line: number,
  columns: Columns,
  text: () => string,
  { depth, filter, path }: Around = nothingAround,
): Generator<Row> {
  const shape = readPage(value, columns);
  const filterOf = (place: readonly string[]) => `'${filter}${recordsFilter(place)}'`;
  switch (shape.kind) {
    case "record":
      yield rowOf(shape.record, text(), line, columns, path);
      break;
    case "page": {
      const within = { depth: depth + 1, filter: `${filter}${recordsFilter(shape.path)} | ` };
      for (const item of shape.items) {
        yield* rowsOfItem(item, line, columns, { ...within, path: pathWithin(shape.path, item, columns) });
      }
      break;
    }
    case "by id":
      yield faulty(`it holds records under their ids; take them with jq -c ${filterOf(shape.path)}`, text(), line);
      break;
    case "unclear": {
      const filters = shape.paths.map(filterOf).join(" or ");
      yield faulty(`it holds several lists of records; take one with jq -c ${filters}`, text(), line);
      break;
    }
    case "other":
      yield faulty(notAnObject, text(), line);
  }
}

/** In a list of companies, not of people at them, what is called a name is that of a company. */
function pathWithin(place: readonly string[], item: unknown, columns: Columns): readonly string[] {
  const list = place.at(-1) ?? "";
  const isCompanies = /^(?:companies|organi[sz]ations)$/i.test(list);
  const isPerson = isObject(item) && Object.keys(item).some((name) => columns.targetOf([name]) === "email");
  return isCompanies && !isPerson ? [list] : [];
}

function rowsOfItem(item: unknown, line: number, columns: Columns, around: Around): Iterable<Row> {
  return rowsOfText(JSON.stringify(item), item, line, columns, around);
}

/** The rows of a text and its value, which in most cases are one record. */
function rowsOfText(text: string, value: unknown, line: number, columns: Columns, around: Around): Iterable<Row> {
  if (mayHoldMore.test(text) && around.depth < deepestPage) return rowsOf(value, line, columns, () => text, around);
  return [isObject(value) ? rowOf(value, text, line, columns, around.path) : faulty(notAnObject, text, line)];
}

function faulty(fault: string, source: string, line: number): Row {
  return { line, cells: [], fault, source };
}

function rowOf(
  record: Record<string, unknown>,
  source: string,
  line: number,
  columns: Columns,
  path: readonly string[] = [],
): Row {
  if (source.length > largestRecord) return faulty("it is larger than 1 MiB", source, line);
  if (source.includes("\\u0000") && holdsNul(record)) return faulty("it holds a NUL", source, line);
  const fault = tableFault(record, columns);
  if (fault !== null) return faulty(fault, source, line);
  const cells: Cell[] = [];
  let holdsOthers = false;
  const onOthers = () => {
    holdsOthers = true;
  };
  for (const { column, text } of valuesOf(record, path, columns, onOthers)) {
    const present = cells[column];
    cells[column] = present === undefined ? text : [present, text].flat();
  }
  return { line, cells, fault: null, source, holdsOthers };
}

/** JSON as numbers with all of their digits, such as ids have; undefined for a text that is none. */
export function parseJson(text: string): unknown {
  try {
    return longNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A number that may have more digits than a number in memory keeps, such as an id. */
const longNumber = /[[:,]\s*-?\d{16}/;

function keepDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
}

function holdsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  return typeof value === "object" && value !== null && Object.entries(value).flat().some(holdsNul);
}
