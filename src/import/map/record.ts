/** Reads the values of a JSON record, each with the column of its path. */
import { isObject } from "../parse/json-value.ts";
import type { Cell } from "../row.ts";
import type { Column, Sign } from "./column.ts";
import { type Columns, maxColumns, type Path } from "./columns.ts";
import { namingFields } from "./fields.ts";
import type { Layout } from "./layout.ts";
import { fieldNamed, isRepresentative, maxNameLength } from "./names.ts";

/** Lists that are nested more deeply, and the objects in them, are not read. */
const maxListDepth = 32;

/** Returns the values of a record, each at the index of its column; null if it has too many names. */
export function readRecord(
  record: object,
  parents: readonly string[],
  columns: Columns,
): { readonly cells: readonly Cell[]; readonly layout: Layout } | null {
  const reader = new RecordReader();
  reader.add(
    record,
    parents.reduce((path, name) => path.at(name), columns.root),
  );
  if (reader.names > maxColumns) return null;
  return { cells: [...reader.cells.values()], layout: columns.layoutOf([...reader.cells.keys()]) };
}

class RecordReader {
  readonly cells = new Map<Column, Cell>();
  names = 0;

  /** Adds the values at or below a path. A value without a meaning is skipped before it is read. */
  add(value: unknown, path: Path): void {
    if (path.isTooLong) return;
    if (path.isOfPerson && isEmpty(value)) this.addSign(path, "nobody");
    if (Array.isArray(value)) this.addList(value, path);
    else if (isObject(value)) this.addObject(value, path);
    else this.addCell(String(value ?? ""), path);
  }

  private addObject(record: Record<string, unknown>, path: Path): void {
    for (const [name, value] of Object.entries(record)) {
      if (name.length > maxNameLength && typeof value === "object") continue;
      this.add(value, path.at(name));
    }
  }

  /** Adds the texts of a list, or the values of its objects. */
  private addList(list: readonly unknown[], path: Path): void {
    const items = flatItems(list, 0);
    if (!items.some(isObject)) {
      this.addCell(items.length > 1 ? items.map(String) : String(items[0] ?? ""), path);
      return;
    }
    const before = this.names;
    const own = items.filter((item) => !isOfOther(item, path.names.at(-1) ?? ""));
    for (const item of this.chosenOf(own.length === 0 ? [{}] : own, path)) {
      // The items have the same names, which count once.
      this.names = before;
      this.add(item, path);
    }
  }

  /** Returns the objects of a list that are read: all that hold values of a field, or else the only one, or the first visit. */
  private chosenOf(items: readonly unknown[], path: Path): readonly unknown[] {
    const { kind, isOfPerson, isChosen } = path;
    const name = path.names.at(-1) ?? "";
    const full = items.filter((item) => holdsText(item, 0));
    if (!isChosen && suggestions.test(name)) this.addSign(path, "suggested");
    if (full.length < 2) return full.length === 0 ? items.slice(0, 1) : full;
    // If there are several people, none is the visitor. If a wrapper has several objects, none is the record.
    const isOfPeople = isChosen || isOfPerson || (kind === "wrapper" && full.some(namesSomebody));
    if (isOfPeople) this.addSign(path, "people");
    if (kind === "visit") this.addSign(path, "visits");
    if (isOfPeople || kind === "wrapper") return [];
    if (kind === null) return fieldNamed(name) === null ? [] : full;
    return full.slice(0, 1);
  }

  private addSign(path: Path, sign: Sign): void {
    this.cells.set(path.sign(sign), "sign");
  }

  /**
   * Adds the texts of a path if they are needed. An empty text shows that the record has the name. Every name counts toward the
   * maximum.
   */
  private addCell(cell: string | readonly string[], path: Path): void {
    if (++this.names > maxColumns) return;
    const column = path.value;
    if (!column.isRead) return;
    const present = this.cells.get(column);
    this.cells.set(column, present === undefined || present === "" ? cell : [present, cell].flat());
  }
}

/** Returns the items of a list, and of lists in it. */
function flatItems(list: readonly unknown[], depth: number): readonly unknown[] {
  if (!list.some((item) => Array.isArray(item) || item === null)) return list;
  return list.flatMap((item) => {
    if (item === null) return [];
    return Array.isArray(item) ? (depth < maxListDepth ? flatItems(item, depth + 1) : []) : [item];
  });
}

/** The lists that have suggested contacts in company feeds. */
const suggestions = /^(?:contacts|people|prospects)$/i;

/** Returns whether an object has a field, other than a name, that identifies somebody. Things also have names. */
function namesSomebody(item: unknown): boolean {
  if (!isObject(item)) return false;
  const fields = Object.keys(item).map(fieldNamed);
  return fields.some((field) => field !== null && field !== "name" && namingFields.has(field));
}

/**
 * Returns whether an item in a list of phones or addresses belongs to somebody else by its type: `{ type: "company", number }`.
 */
function isOfOther(item: unknown, name: string): boolean {
  if (!isObject(item)) return false;
  const said = item["type"] ?? item["label"] ?? item["kind"] ?? item["category"];
  const field = fieldNamed(name);
  const isOfPerson = field !== null && namingFields.has(field);
  // A business email address is the person's, but a business phone is not.
  return isOfPerson && typeof said === "string" && isRepresentative(said) && fieldNamed(`${said} ${field}`) === null;
}

/** Returns whether a value is null, an object without names, or a list without items. */
function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

/** Returns whether a value has a text that is not empty. */
function holdsText(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return String(value ?? "").trim() !== "";
  return depth < maxListDepth && Object.values(value).some((inner) => holdsText(inner, depth + 1));
}
