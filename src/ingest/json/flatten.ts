/** Objects within objects as columns: a path for each value. */
import type { Columns } from "../columns/columns.ts";

/** Objects within objects within objects: deeper than this is not an export. */
const deepest = 32;

interface Value {
  readonly column: number;
  readonly text: string;
}

/** The values of an object that are of any use, each with the column of its path. */
export function valuesOf(value: unknown, path: readonly string[], columns: Columns): Value[] {
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

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
