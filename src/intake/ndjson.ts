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
  const cells: Cell[] = [];
  flatten(parsed, [], cells, columns);
  return { line, cells, fault: null, source: text };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Puts every value at its path into its column; several at one path, out of an array, become a list. */
function flatten(value: unknown, path: readonly string[], cells: Cell[], columns: Columns): void {
  if (value === null || value === undefined || path.length > deepest) return;
  if (Array.isArray(value)) {
    for (const item of value) flatten(item, path, cells, columns);
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) flatten(item, [...path, name], cells, columns);
  } else {
    const column = columns.indexOf(path.join("."), path);
    const present = cells[column];
    cells[column] = present === undefined ? String(value) : [present, String(value)].flat();
  }
}
