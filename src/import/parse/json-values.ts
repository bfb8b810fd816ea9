/** The values of a JSON object: each with the column of its path. */
import { type Column, type Columns, maxColumns } from "../map/columns.ts";
import type { Cell } from "../row.ts";

/** Objects within objects within objects: deeper than this is not an export. */
const maxDepth = 32;
/** In no export are the names on the way to a value longer, all of them together. */
const maxPathLength = 1000;

/** The values of one record that are of any use, in their order. */
export interface Values {
  readonly columns: readonly Column[];
  readonly cells: readonly Cell[];
  /** What a list holds beyond the element that is kept. */
  readonly others: ReadonlySet<"people" | "visits">;
  /** Whether it has more different names than any export. */
  readonly isExcessive: boolean;
}

interface Value {
  readonly column: Column;
  readonly text: string;
}

/** Reads the values of an object that stands under some parents. */
export function readValues(record: object, parents: readonly string[], columns: Columns): Values {
  const others = new Set<"people" | "visits">();
  let names = 0;

  function valuesOf(value: unknown, path: readonly string[], lists = 0): Value[] {
    if (value === null || value === undefined || names > maxColumns || isTooLong(path)) return [];
    if (Array.isArray(value)) return lists > maxDepth ? [] : valuesOfList(value, path, lists + 1);
    if (isObject(value)) return Object.entries(value).flatMap(([name, item]) => valuesOf(item, [...path, name]));
    names++;
    const column = columns.at(path);
    return column.meaning !== null || column.mayBeTime ? [{ column, text: String(value) }] : [];
  }

  /** Values of one kind are all of one field. Of any others, those of the first element count: two people must not mix. */
  function valuesOfList(items: readonly unknown[], path: readonly string[], lists: number): Value[] {
    const before = names;
    const elements: Value[][] = [];
    for (const item of items) {
      // The names of each element are the same ones again.
      names = before;
      const values = valuesOf(item, path, lists).filter(({ text }) => text.trim() !== "");
      if (values.some(({ column }) => column.meaning !== null)) elements.push(values);
    }
    if (elements.length > 1 && items.some(isObject)) noteOthers(elements, path);
    const values = elements.flat();
    return new Set(values.map(({ column }) => column)).size <= 1 ? values : (elements[0] ?? []);
  }

  function noteOthers(elements: readonly Value[][], path: readonly string[]): void {
    const name = path.at(-1) ?? "";
    // A list that is named after a field, such as emails, has further values of one person.
    if (columns.meaningOf(path) !== null && columns.kindOf(name) !== "visit") return;
    const people = elements.flat().filter(({ column }) => /^(?:name|email)$/.test(column.meaning?.target ?? ""));
    if (new Set(people.map(({ text }) => text)).size > 1) others.add("people");
    else if (columns.kindOf(name) === "visit") others.add("visits");
  }

  const found = valuesOf(record, parents);
  const cells = new Map<Column, Cell>();
  for (const { column, text } of found) {
    const present = cells.get(column);
    cells.set(column, present === undefined ? text : [present, text].flat());
  }
  return { columns: [...cells.keys()], cells: [...cells.values()], others, isExcessive: names > maxColumns };
}

/** To read a long path for each value under it would take the square of its length. */
function isTooLong(path: readonly string[]): boolean {
  return path.length > maxDepth || path.reduce((sum, { length }) => sum + length, 0) > maxPathLength;
}

/** Returns whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
