/** The columns of a source, each with its meaning. The meaning of a record depends on its own columns alone. */
import { createHash } from "node:crypto";
import { UserError } from "../../runtime/user-error.ts";
import { creationNames, type Target, visitListName } from "./former-fields.ts";
import type { ColumnMapping } from "./mapping.ts";
import { isForeignTime, kindOf, looksLikeTimeName, type Meaning, meaningOfPath, normalizeName } from "./names.ts";

/** A column of CSV, or a path in JSON. */
export interface Column {
  readonly number: number;
  /** Its name, with no two alike. */
  readonly name: string;
  /** The name that it has in the file. */
  readonly title: string;
  readonly meaning: Meaning | null;
  /** True of a column that --map ignores, and of those of a rejects file. */
  readonly isIgnored: boolean;
  /** True of a column that is no field, but may be the time of the visit; by its name if `looksLikeTime`. */
  readonly mayBeTime: boolean;
  readonly looksLikeTime: boolean;
}

/** The columns of one record: records that name the same things in the same order share a layout. */
export interface Layout {
  readonly columns: readonly Column[];
  readonly of: ByField;
  /** The location of a company, which counts only in a record that names no person. */
  readonly ofCompany: ByField;
  /** The places of names, the preferred first: of a whole name, or of a first and of a last name. */
  readonly names: readonly (readonly (readonly number[])[])[];
  /** Places of values for the same field that nothing tells apart. */
  readonly ties: readonly (readonly number[])[];
}

/** The column indexes of each field, in order of preference. Fields without a column are omitted. */
export type ByField = { readonly [Field in Target]?: readonly number[] };

/** The largest exports have some hundreds of columns. */
export const maxColumns = 2000;
/** At most this many layouts are known at once; a record with another one costs a little more. */
const maxLayouts = 1000;

/** The columns of a source, which become more while it is read. */
export class Columns {
  private readonly found: Column[] = [];
  private readonly byName = new Map<string, Column>();
  private readonly layouts = new Map<string, Layout>();

  /** Returns the meaning of a path, whether or not a value has it. */
  readonly meaningOf = remembered(
    (path: readonly string[]) => {
      const mapped = this.mapping.meaningOf(path);
      return mapped === undefined ? meaningOfPath(path) : mapped;
    },
    (path) => path.join("."),
  );
  /** Returns the kind of object that a name denotes: wrapper, page, visitor, … */
  readonly kindOf = remembered(kindOf, String);

  constructor(private readonly mapping: ColumnMapping) {}

  /** The columns that were found so far. */
  get all(): readonly Column[] {
    return this.found;
  }

  /** Returns the column of a path in JSON. */
  at(path: readonly string[]): Column {
    const name = path.join(".");
    return this.byName.get(name) ?? this.add(name, path);
  }

  /** Adds the columns of a header, in their order. Throws a UserError if there are too many. */
  addHeader(cells: readonly string[]): Layout {
    if (cells.length > maxColumns) {
      throw new UserError(
        `The file has more than ${maxColumns.toLocaleString("en-US")} columns.`,
        "Check that its first line is the header, and remove columns that you do not need.",
      );
    }
    for (const [position, title] of cells.entries()) {
      const name = title === "" ? `(column ${position + 1})` : title;
      // The same name twice is two columns, which hold the same field.
      let unique = name;
      for (let number = position + 1; this.byName.has(unique); number++) unique = `${name} (${number})`;
      this.add(unique, [title]);
    }
    return createLayout(this.found);
  }

  /** Returns the layout of a record of JSON with some columns. */
  layoutOf(columns: readonly Column[]): Layout {
    // Columns after the last one that is remembered share a number.
    if (this.found.length === maxColumns) return createLayout(columns);
    if (this.layouts.size === maxLayouts) this.layouts.clear();
    const key = columns.map(({ number }) => number).join();
    return this.layouts.getOrInsertComputed(key, () => createLayout(columns));
  }

  /** Returns a hash of the names, which is the same in whatever order they are found. */
  layoutHash(): string {
    const names = new Set(this.found.map(({ title }) => title).filter((title) => !isRejectColumn(title)));
    return createHash("sha256")
      .update(JSON.stringify([...names].toSorted()))
      .digest("hex")
      .slice(0, 32);
  }

  /** Returns the names in --map that no column has. */
  missing(): readonly string[] {
    return this.mapping.missing(this.found.map(({ title }) => title));
  }

  private add(name: string, path: readonly string[]): Column {
    const meaning = this.meaningOf(path);
    const isIgnored = this.mapping.meaningOf(path) === null || isRejectColumn(name);
    const isUnknown = meaning === null && !isIgnored;
    const mayBeTime = isUnknown && !isForeignTime(path);
    const looksLikeTime = mayBeTime && looksLikeTimeName(path.at(-1) ?? "");
    const title = path.join(".");
    const column = { number: this.found.length, name, title, meaning, isIgnored, mayBeTime, looksLikeTime };
    // A record may bring ever new names; those of the first ones are reported.
    if (this.found.length < maxColumns) {
      this.found.push(column);
      this.byName.set(name, column);
    }
    return column;
  }
}

/** Remembers the results of a function for the first names of a file. */
function remembered<Given, Result>(find: (given: Given) => Result, keyOf: (given: Given) => string) {
  const known = new Map<string, Result>();
  return (given: Given): Result => {
    const key = keyOf(given);
    if (known.has(key) || known.size < maxColumns) return known.getOrInsertComputed(key, () => find(given));
    return find(given);
  };
}

/** Returns which of some columns hold which field. */
export function createLayout(columns: readonly Column[]): Layout {
  const of: { [Field in Target]?: number[] } = {};
  const ofCompany: { [Field in Target]?: number[] } = {};
  const isOfPeople = isAddressBook(columns);
  const hasVisits = columns.some(({ title }) => normalizeName(title).startsWith(visitListName));
  const rankAt = ranksOf(columns);
  for (const place of [...columns.keys()].toSorted((a, b) => rankAt(a) - rankAt(b))) {
    const meaning = columns[place]?.meaning ?? null;
    if (meaning === null || (isOfPeople && isCreation(meaning))) continue;
    const isOfCompany = meaning.isOfCompany && !(hasVisits && meaning.target === "state");
    ((isOfCompany ? ofCompany : of)[meaning.target] ??= []).push(place);
  }
  // A date and a time are one value in two places.
  const { identified_at: _, ...others } = of;
  const ranks = Object.values(others).flatMap((places) => [...Map.groupBy(places, rankAt).values()]);
  return { columns, of, ofCompany, names: namesIn(of, columns), ties: ranks.filter((places) => places.length > 1) };
}

/** Returns a function that gives the rank of the column at a place: the lowest is preferred. */
const ranksOf = (columns: readonly Column[]) => (place: number) => columns[place]?.meaning?.rank ?? 0;

/**
 * Returns the places of names. Where any parents have both halves of a name, halves with other parents may be of another
 * person. A half that --map names is completed with any other half.
 */
function namesIn({ name = [], first_name = [], last_name = [] }: ByField, columns: readonly Column[]): Layout["names"] {
  const rankAt = ranksOf(columns);
  const parentsAt = (place: number) => columns[place]?.meaning?.parents;
  const halves = [...first_name, ...last_name];
  const isSeparate =
    first_name.some((first) => last_name.some((last) => parentsAt(first) === parentsAt(last))) &&
    halves.every((place) => rankAt(place) >= 0);
  const persons = [...Map.groupBy(halves, (place) => (isSeparate ? parentsAt(place) : "")).values()];
  const pairs = persons.map((ofOne) =>
    [first_name, last_name].map((half) => half.filter((one) => ofOne.includes(one))),
  );
  const rankOf = (places: readonly (readonly number[])[]) => Math.min(...places.flat().map(rankAt));
  return [...name.map((place) => [[place]]), ...pairs].toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Returns whether a record is of people and not of visits: then the time at which it was made is not that of a visit. */
function isAddressBook(columns: readonly Column[]): boolean {
  const targets = new Set(columns.map(({ meaning }) => meaning?.target));
  const people = ["name", "first_name", "last_name", "phone", "company", "city", "state"] as const;
  const isOfVisits = targets.has("pixel_id") || targets.has("page_url") || targets.has("referrer");
  return !isOfVisits && people.filter((field) => targets.has(field)).length >= 3;
}

function isCreation({ target, rank, key }: Meaning): boolean {
  return target === "identified_at" && rank >= 0 && creationNames.has(key);
}

/** The columns that a rejects file has in addition to those of its source. */
export const rejectColumns = ["reject_line", "reject_reason"] as const;

/** Returns whether a column is one that only a rejects file has. */
export function isRejectColumn(name: string): boolean {
  return rejectColumns.some((column) => column === name);
}
