/** Which column of a file is which field of a lead: by --map, by its name, or by the path to it. */
import type { LeadField } from "../../../contract/lead.ts";
import type { Target } from "./aliases.ts";
import type { ColumnMapping } from "./mapping.ts";
import { meaningOfNested, standIn } from "./nested-names.ts";
import { mostColumns, TooManyColumns } from "./too-many-columns.ts";
import { type Meaning, meaningOf, normalizeName } from "./vocabulary.ts";

/** The columns of a file, which may turn out to be more while it is read. */
export interface Columns {
  /** The name of each column, with no two alike. */
  readonly names: readonly string[];
  /** What each column is called in the file. */
  readonly titles: readonly string[];
  /** The number of a column, which is made known if it is new. Throws TooManyColumns where there are too many. */
  indexOf(name: string, path: readonly string[]): number;
  /** Whether the values of a column are of any use. */
  isKept(number: number): boolean;
  /** The numbers of the columns that hold each field, the preferred first. */
  readonly of: ColumnsByField;
  /** What a name means, whether a column is called that or not. */
  targetOf(path: readonly string[]): Target | null;
  /** Whether a column is the place of the visitor's company, which stands in where there is no other. */
  isStandIn(number: number): boolean;
  /** Call this when there will be no more columns: all of them together show whether it is an address book. */
  complete(): void;
  /** The names in --map that no column has. */
  missing(): readonly string[];
  /** Forgets all columns, so that the next record may bring as many. Null where they are those of a whole file. */
  readonly startAnew: (() => void) | null;
}

/** A field that no column holds is left out. */
type ColumnsByField = { readonly [Field in Target]?: readonly number[] };

/** The columns of a file; or of deliveries, of which each has its own. */
export function createColumns(mapping: ColumnMapping, { ofDeliveries = false } = {}): Columns {
  const names: string[] = [];
  const titles: string[] = [];
  const numbers = new Map<string, number>();
  const meanings: (Meaning | null)[] = [];
  const named = new Set<string>();
  /** Names come again in every line, and finding the meaning of one takes longer than reading a line. */
  const asked = new Map<string, Target | null>();
  let byField: ColumnsByField | null = null;
  let complete = false;

  function startAnew(): void {
    for (const list of [names, titles, meanings]) list.length = 0;
    for (const known of [numbers, named]) known.clear();
    byField = null;
  }

  return {
    names,
    titles,
    indexOf(name, path) {
      const known = numbers.get(name);
      if (known !== undefined) return known;
      if (names.length === mostColumns) throw new TooManyColumns(titles);
      const number = names.push(name) - 1;
      titles.push(path.join("."));
      numbers.set(name, number);
      const meaning = meaningOfPath(path, mapping);
      meanings.push(meaning);
      named.add(normalizeName(path.join(""))).add(normalizeName(path.at(-1) ?? ""));
      if (meaning !== null) byField = null;
      return number;
    },
    targetOf(path) {
      if (isTooLong(path)) return null;
      const name = path.join(".");
      let target = asked.get(name);
      if (target === undefined) {
        target = meaningOfPath(path, mapping)?.target ?? null;
        if (asked.size < mostColumns) asked.set(name, target);
      }
      return target;
    },
    isStandIn: (number) => (meanings[number]?.rank ?? 0) >= standIn,
    isKept: (number) => meanings[number] !== null,
    complete() {
      complete = true;
      byField = null;
    },
    get of() {
      return (byField ??= groupByField(names, meanings, complete));
    },
    missing: () => [...mapping].flatMap(([key, { name }]) => (named.has(key) ? [] : [name])),
    startAnew: ofDeliveries ? startAnew : null,
  };
}

/** In no export are the names on the way to a value longer, all of them together. */
const longestPath = 1000;

/** Whether a path is too long to mean anything. To read it for each value under it would take the square of its length. */
export function isTooLong(path: readonly string[]): boolean {
  return path.reduce((sum, { length }) => sum + length, 0) > longestPath;
}

/** What the path to a column means, by --map or by its name. */
function meaningOfPath(path: readonly string[], mapping: ColumnMapping): Meaning | null {
  const normalized = path.map(normalizeName);
  const whole = normalized.join("");
  const order = mapping.get(whole) ?? mapping.get(normalized.at(-1) ?? "");
  if (order !== undefined) return order.target === null ? null : { target: order.target, rank: -1 };
  if (isTooLong(path)) return null;
  if (normalized.length === 1) return meaningOf(whole);
  return meaningOfNested(normalized);
}

function groupByField(
  names: readonly string[],
  meanings: readonly (Meaning | null)[],
  complete: boolean,
): ColumnsByField {
  const grouped: { [Field in Target]?: number[] } = {};
  const profile = complete && isAddressBook(meanings);
  for (const [number, meaning] of meanings.entries()) {
    if (meaning === null || (profile && isCreation(names[number], meaning))) continue;
    const those = (grouped[meaning.target] ??= []);
    those.push(number);
  }
  const rank = (number: number) => meanings[number]?.rank ?? 0;
  for (const those of Object.values(grouped)) those.sort((a, b) => rank(a) - rank(b) || a - b);
  return grouped;
}

const ofVisits: ReadonlySet<LeadField> = new Set(["pixel_id", "page_url", "referrer"]);

/** Whether the columns are those of an address book: the time at which an entry was made is not that of a visit. */
function isAddressBook(meanings: readonly (Meaning | null)[]): boolean {
  const held = new Set(meanings.map((meaning) => meaning?.target));
  if ([...ofVisits].some((field) => held.has(field))) return false;
  const people = ["name", "first_name", "last_name", "phone", "company", "city", "state"] as const;
  return people.filter((field) => held.has(field)).length >= 3;
}

/** Whether a column, not one that the owner named, says when something was made. */
function isCreation(name: string | undefined, meaning: Meaning | null): boolean {
  if (name === undefined || meaning === null || meaning.rank < 0) return false;
  return (
    meaning.target === "identified_at" &&
    /^(?:created?(?:at|on|date|time)?|creationdate|datecreated)$/.test(normalizeName(name))
  );
}

/** The columns that a rejects file has in addition to those of its source. */
export const rejectColumns = ["reject_line", "reject_reason"] as const;

export function isRejectColumn(name: string): boolean {
  return rejectColumns.some((column) => column === name);
}

/** Fewer words may be values that happen to be names of columns. */
const fewestNames = 3;

/** At most this many lines stand above the header of a report. */
export const linesAbove = 10;

/** Whether the cells of a row name more fields than the header: above the true one may stand a title, or groups of columns. */
export function namesMore({ targetOf, of }: Columns, cells: readonly string[]): boolean {
  const named = new Set(cells.flatMap((cell) => targetOf([cell]) ?? []));
  return named.size >= fewestNames && named.size > Object.keys(of).length;
}
