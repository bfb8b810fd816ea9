/** Objects within objects as columns: a path for each value. */
import { type Columns, isTooLong } from "../../map/columns/columns.ts";

/** Objects within objects within objects: deeper than this is not an export. */
const deepest = 32;

interface Value {
  readonly column: number;
  readonly text: string;
}

/**
 * The values of an object that are of any use, each with the column of its path. Tells where a list in it has people
 * beside the first, whose values are left out.
 */
export function valuesOf(value: unknown, path: readonly string[], columns: Columns, onOthers: () => void): Value[] {
  if (value === null || value === undefined || path.length > deepest || isTooLong(path)) return [];
  if (Array.isArray(value)) return valuesOfList(value, path, columns, onOthers);
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, item]) => valuesOf(item, [...path, name], columns, onOthers));
  }
  const column = columns.indexOf(path.join("."), path);
  return columns.isKept(column) ? [{ column, text: String(value) }] : [];
}

/**
 * A list whose values are of one kind gives all of them. Any other gives those of its first element that has any: two
 * people must not mix.
 */
function valuesOfList(
  items: readonly unknown[],
  path: readonly string[],
  columns: Columns,
  onOthers: () => void,
): Value[] {
  const elements = items
    .map((item) => valuesOf(item, path, columns, onOthers))
    .filter((values) => values.some(({ text }) => text.trim() !== ""));
  const values = elements.flat();
  const kinds = new Set(values.map(({ column }) => column));
  const names = values.filter(({ column }) => isOfPerson(column, columns));
  // A list that is named after a field, such as emails, has further values of one person.
  const hasPeople = items.some(isObject) && columns.targetOf(path) === null;
  if (hasPeople && new Set(names.map(({ text }) => text)).size > 1 && elements.length > 1) onOthers();
  return kinds.size <= 1 ? values : (elements[0] ?? []);
}

function isOfPerson(column: number, { of }: Columns): boolean {
  return of.email?.includes(column) === true || of.name?.includes(column) === true;
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
