/** Which column of a file is which field of a lead: by --map, by its name, or by the path to it. */
import { parse } from "csv-parse/sync";
import { type LeadField, leadFields } from "../contract/lead.ts";
import { UserError } from "../operator/user-error.ts";
import { meaningOfNested, standIn } from "./paths.ts";
import { mostColumns, tooManyColumns } from "./too-many-columns.ts";
import { ingredients, type Meaning, meaningOf, normalizeName, type Target } from "./vocabulary.ts";

/** What --map says, by the normalised name of a column; null for a column that is not kept. */
export type ColumnMapping = ReadonlyMap<string, { readonly name: string; readonly target: Target | null }>;

/** The columns that a rejects file has in addition to those of its source. */
export const rejectColumns = ["reject_line", "reject_reason"] as const;

const targets: readonly Target[] = [...leadFields, ...ingredients];

/** The columns of a file, which may turn out to be more while it is read. */
export interface Columns {
  /** The name of each column, with no two alike. */
  readonly names: readonly string[];
  /** What each column is called in the file. */
  readonly titles: readonly string[];
  /** The number of a column, which is made known if it is new. Throws a UserError where there are too many. */
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
  /** What became of each column, for the eyes of whoever imports. */
  report(): ColumnReport;
}

/** A field that no column holds is left out. */
export type ColumnsByField = { readonly [Field in Target]?: readonly number[] };

export interface ColumnReport {
  readonly matched: readonly { readonly target: Target; readonly names: readonly string[] }[];
  readonly unmatched: readonly string[];
  /** A remark on a column that was left out although its name is known. */
  readonly remark: string | null;
}

/** Reads the value of --map, `theirs=ours,…`, quoted like CSV; throws a UserError that names the part that is wrong. */
export function readMapping(text: string | null): ColumnMapping {
  const parts = text === null ? [] : splitMapping(text);
  return new Map(parts.map((part) => [normalizeName(part.slice(0, part.lastIndexOf("="))), readMapped(part)]));
}

function splitMapping(text: string): string[] {
  try {
    // Without columns a record is a list of texts.
    const parts = parse(text, { relax_quotes: true }).flat();
    return parts.length === 0 ? [""] : parts;
  } catch {
    return [text];
  }
}

function readMapped(part: string): { name: string; target: Target | null } {
  const equals = part.lastIndexOf("=");
  const name = part.slice(0, Math.max(0, equals)).trim();
  const ours = part.slice(equals + 1).trim();
  const target = ours === "-" ? null : targets.find((known) => known === ours);
  if (normalizeName(name) !== "" && target !== undefined) return { name, target };
  throw new UserError(
    `--map has ${JSON.stringify(part)}, which is not theirs=ours.`,
    `ours is one of ${targets.join(", ")}, or - for a column that is not to be kept.`,
    2,
  );
}

export function createColumns(mapping: ColumnMapping): Columns {
  const names: string[] = [];
  const titles: string[] = [];
  const numbers = new Map<string, number>();
  const meanings: (Meaning | null)[] = [];
  const named = new Set<string>();
  /** Names come again in every line, and finding the meaning of one takes longer than reading a line. */
  const asked = new Map<string, Target | null>();
  let byField: ColumnsByField | null = null;
  let complete = false;

  const grouped = () => (byField ??= groupByField(names, meanings, complete));

  return {
    names,
    titles,
    indexOf(name, path) {
      const known = numbers.get(name);
      if (known !== undefined) return known;
      if (names.length === mostColumns) throw tooManyColumns(titles);
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
      return grouped();
    },
    missing: () => [...mapping].flatMap(([key, { name }]) => (named.has(key) ? [] : [name])),
    report: () => reportOn(names, meanings, grouped()),
  };
}

type Meanings = readonly (Meaning | null)[];

function groupByField(names: readonly string[], meanings: Meanings, complete: boolean): ColumnsByField {
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

function reportOn(names: readonly string[], meanings: Meanings, grouped: ColumnsByField): ColumnReport {
  const used = new Set(Object.values(grouped).flat());
  const left = names.filter((name, number) => !used.has(number) && !isRejectColumn(name));
  const created = names.find((name, number) => !used.has(number) && isCreation(name, meanings[number] ?? null));
  return {
    matched: targets
      .filter((target) => target in grouped)
      .map((target) => ({ target, names: (grouped[target] ?? []).map((number) => names[number] ?? "") })),
    unmatched: left,
    remark:
      created === undefined
        ? null
        : `${created} is taken for the time at which a profile was made, not for a visit; ` +
          `--map "${created}=identified_at" overrules`,
  };
}

export function isRejectColumn(name: string): boolean {
  return rejectColumns.some((column) => column === name);
}

function meaningOfPath(path: readonly string[], mapping: ColumnMapping): Meaning | null {
  const normalized = path.map(normalizeName);
  const whole = normalized.join("");
  const order = mapping.get(whole) ?? mapping.get(normalized.at(-1) ?? "");
  if (order !== undefined) return order.target === null ? null : { target: order.target, rank: -1 };
  if (normalized.length === 1) return meaningOf(whole);
  return meaningOfNested(normalized);
}

const ofVisits: ReadonlySet<LeadField> = new Set(["pixel_id", "page_url", "referrer"]);

/** Whether the columns are those of an address book, which has people but no visits. */
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
