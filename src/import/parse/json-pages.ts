/** Pages of an API: JSON that holds its records in one list, under any name that is not that of something else. */
import { bareNames, otherLists, type Target } from "../map/fields.ts";
import { fieldNamed, isRepresentative, kindOf, normalizeName, splitPath } from "../map/names.ts";
import { meaningOf, strangeField } from "../map/paths.ts";
import { firstEmail } from "../map/values/emails.ts";
import { firstPhone } from "../map/values/phones.ts";
import { isObject } from "./json-value.ts";

/** A list of records, and its parents: a name in a list of companies is that of a company. */
export interface Page {
  readonly items: readonly unknown[];
  readonly parents: readonly string[];
}

/** The maximal depth of a list of records. */
const maxDepth = 4;

/** Returns whether --map makes the items of a list the person. */
type IsPerson = (path: readonly string[]) => boolean;

interface List {
  readonly path: readonly string[];
  readonly items: readonly unknown[];
}

/**
 * Returns the list of records that a JSON value is; null if it is a record, and the paths of the lists if it has several.
 * Around the list of a page, nothing says something of a visitor or a visit.
 */
export function readPage(value: unknown, isPerson: IsPerson): Page | { readonly lists: readonly string[] } | null {
  if (Array.isArray(value)) return isList(value) ? { items: value, parents: [] } : null;
  if (!isObject(value)) return null;
  const lists = listsIn(value, []);
  if (lists.length === 0) return null;
  const kind = ({ path }: List) => kindOf(path.at(-1) ?? "");
  const isListing = lists.every((list) => ["wrapper", null].includes(kind(list)));
  const items = new Set<unknown>(lists.map((list) => list.items));
  if (isRecord(value, [], { lists: items, isListing })) return null;
  const full = lists.filter(({ items }) => items.length > 0);
  if (full.length > 1) {
    // Lists of one object each belong together.
    return full.every((list) => list.items.length === 1) ? null : { lists: full.map(({ path }) => path.join(".")) };
  }
  const [list] = [...full, ...lists];
  if (list === undefined) return null;
  if (isPerson(list.path)) return { items: list.items, parents: list.path };
  return { items: list.items, parents: kind(list) === "company" ? list.path.slice(-1) : [] };
}

function listsIn(value: Record<string, unknown>, path: readonly string[]): List[] {
  return Object.entries(value).flatMap(([name, item]) => {
    const here = [...path, name];
    if (isObject(item)) return here.length < maxDepth ? listsIn(item, here) : [];
    const holdsRecords = Array.isArray(item) && isList(item) && !arePairs(item) && mayHoldRecords(name);
    return holdsRecords ? [{ path: here, items: item }] : [];
  });
}

/** Returns whether a list has only pairs of a name and a value: the fields of one record, as of a form. */
function arePairs(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every((item) => isObject(item) && isPair(Object.keys(item)));
}

function isPair(names: readonly string[]): boolean {
  return names.length === 2 && names.includes("name") && (names.includes("value") || names.includes("values"));
}

/** The lists in a document, and whether any of them is named after something else than a record. */
interface Around {
  readonly lists: ReadonlySet<unknown>;
  readonly isListing: boolean;
}

/** Returns whether anything around the lists describes a visitor or a visit. If so, the lists belong to that record. */
function isRecord(value: Record<string, unknown>, path: readonly string[], around: Around): boolean {
  return Object.entries(value).some(([name, item]) => {
    const here = [...path, name];
    if (around.lists.has(item) || here.length > maxDepth) return false;
    return (Array.isArray(item) ? item : [item]).some((one) =>
      isObject(one) ? isRecord(one, here, around) : saysOfRecord(here, one, around),
    );
  });
}

/** A listing has a time, an address, and a name of its own, so bare names do not count in it. */
function saysOfRecord(path: readonly string[], value: unknown, { isListing }: Around): boolean {
  const names = splitPath(path, () => false);
  if (names === null || value === null || value === "") return false;
  const meaning = meaningOf(names);
  if (meaning === null) return namesStranger(names, value);
  const { target, use, isBareName } = meaning;
  if (target === null || isBareName || typeof value === "number") return false;
  if (use === "id" || use === "time zone" || use === "creation") return false;
  const isBare = bareNames.has(normalizeName(names.at(-1) ?? "")) && target !== "pixel_id";
  return !isBare || (target !== "identified_at" && !isListing);
}

/** Returns whether a value in an unknown object names somebody. A count is no phone, and a link to a page is no name. */
function namesStranger(names: readonly string[], value: unknown): boolean {
  const target = strangeField(names)?.target ?? "name";
  if (target === "name" || names.some((name) => isOther(name) || isRepresentative(name))) return false;
  const text = String(value);
  if (target === "email" || target === "verified_email") return firstEmail(text) !== null;
  if (target === "phone") return firstPhone(text) !== null && /(?:\d\D*){7}/.test(text);
  return /^[^\d/?=&:]*\p{L}[^\d/?=&:]*$/u.test(text);
}

/** Returns whether a list with this name may be the list of records of a document. */
function mayHoldRecords(name: string): boolean {
  const field = fieldNamed(name);
  const isField = field !== null && !hasNoObjects.has(field);
  // A list of events or of sessions may be that of the records; any other one of visits belongs to a record.
  const isVisits = kindOf(name) === "visit" && !/^(?:event|session)s?$/.test(normalizeName(name));
  return !isOther(name) && !isRepresentative(name) && !isVisits && !isField;
}

/** Fields of which no list of objects holds values: such a list may be that of the records, as `matched`. */
const hasNoObjects: ReadonlySet<Target> = new Set(["id", "identified_at", "pixel_id"]);

function isOther(name: string): boolean {
  return otherLists.has(normalizeName(name).replace(/s$/, ""));
}

/** A list of texts or numbers is a value; one without anything in it may be a page. */
function isList(list: readonly unknown[], depth = 0): boolean {
  if (list.length === 0) return true;
  return list.some((item) => isObject(item) || (depth < maxDepth && Array.isArray(item) && isList(item, depth + 1)));
}
