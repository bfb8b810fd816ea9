/** Reads the values of a record of JSON, each with the column of its path. */
import type { Cell } from "../row.ts";
import type { Column, Several } from "./column.ts";
import { type Columns, maxColumns } from "./columns.ts";
import type { Layout } from "./layout.ts";
import { fieldNamed, kindOf, maxNameLength } from "./names.ts";

/** No export has objects within objects to a greater depth, or a longer path to a value. */
const maxDepth = 32;
const maxPathLength = 1000;

/** The values of a record, each at the index of its column, and the number of its names. */
export interface RecordValues {
  readonly cells: readonly Cell[];
  readonly layout: Layout;
  readonly names: number;
}

/** Reads a record, whose names count as if they had some parents before them. */
export function readRecord(record: object, parents: readonly string[], columns: Columns): RecordValues {
  const reader = new RecordReader(columns);
  reader.add(record, parents, 0);
  const { cells, names } = reader;
  return { cells: [...cells.values()], layout: columns.layoutOf([...cells.keys()]), names };
}

class RecordReader {
  readonly cells = new Map<Column, Cell>();
  names = 0;

  constructor(private readonly columns: Columns) {}

  /** Adds the values at or below a path. What has no meaning is left out before it is looked at. */
  add(value: unknown, path: readonly string[], length: number): void {
    if (path.length > maxDepth || length > maxPathLength) return;
    if (isEmpty(value) && isOfPerson(path.at(-1) ?? "")) this.addSign(path, "nobody");
    if (Array.isArray(value)) this.addList(value, path, length);
    else if (typeof value === "object" && value !== null) this.addObject(value, path, length);
    else this.addTexts([String(value ?? "")], path);
  }

  private addObject(record: object, path: readonly string[], length: number): void {
    for (const [name, value] of Object.entries(record)) {
      if (name.length > maxNameLength && typeof value === "object") continue;
      const here = [...path, name];
      if (isSuggestion(name, value, record) && !this.columns.isChosen(here)) this.addSign(here, "people");
      else this.add(value, here, length + name.length);
    }
  }

  /** Adds the texts of a list, or the values of its objects. */
  private addList(list: readonly unknown[], path: readonly string[], length: number): void {
    const items = flatItems(list, 0);
    if (items.some((item) => typeof item === "object")) {
      const before = this.names;
      for (const item of this.chosenOf(items, path)) {
        // Each item has the same names.
        this.names = before;
        this.add(item, path, length);
      }
    } else this.addTexts(items.length === 0 ? [""] : items.map(String), path);
  }

  /** Returns the objects of a list that are read: all that hold values of a field, or else the only one, or the first visit. */
  private chosenOf(items: readonly unknown[], path: readonly string[]): readonly unknown[] {
    const name = path.at(-1) ?? "";
    const kind = kindOf(name);
    const full = items.filter((item) => holdsText(item, 0));
    if (full.length < 2) return full.length === 0 ? items.slice(0, 1) : full;
    if (this.columns.isChosen(path)) this.addSign(path, "people");
    if (kind === null) return fieldNamed(name) === null || this.columns.isChosen(path) ? [] : full;
    // Of several people nobody is the visitor, and of several objects in a wrapper none is the record.
    if (kind === "person" || kind === "doubtfulPerson") this.addSign(path, "people");
    if (kind === "visit") this.addSign(path, "visits");
    return kind === "person" || kind === "doubtfulPerson" || kind === "wrapper" ? [] : full.slice(0, 1);
  }

  private addSign(path: readonly string[], several: Several): void {
    this.cells.set(this.columns.severalAt(path, several), "several");
  }

  /** Adds the texts of a path if they are needed. An empty one says that the record has the name. Every name counts. */
  private addTexts(texts: readonly string[], path: readonly string[]): void {
    if (++this.names > maxColumns) return;
    const column = this.columns.at(path);
    if (!column.isRead) return;
    const present = this.cells.get(column);
    const given = present === undefined || present === "" ? texts : [present, texts].flat();
    this.cells.set(column, given.length === 1 ? given[0] : given);
  }
}

/** Returns the items of a list, and of lists in it. */
function flatItems(list: readonly unknown[], depth: number): readonly unknown[] {
  if (!list.some((item) => Array.isArray(item) || item === null)) return list;
  return list.flatMap((item) => {
    if (item === null) return [];
    return Array.isArray(item) ? (depth < maxDepth ? flatItems(item, depth + 1) : []) : [item];
  });
}

/** Returns whether a list has suggested contacts of a company in the same record, who are not the visitor. */
function isSuggestion(name: string, value: unknown, record: object): boolean {
  if (!Array.isArray(value) || value.length === 0 || !/^(?:contacts|people|prospects)$/i.test(name)) return false;
  return Object.keys(record).some((other) => kindOf(other) === "company");
}

function isOfPerson(name: string): boolean {
  const kind = kindOf(name);
  return kind === "person" || kind === "doubtfulPerson";
}

/** Returns whether a value is null, an object without names, or a list without items. */
function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

/** Returns whether a value has a text that is not empty. */
function holdsText(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return String(value ?? "").trim() !== "";
  return depth < maxDepth && Object.values(value).some((inner) => holdsText(inner, depth + 1));
}
