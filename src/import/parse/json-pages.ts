/** Pages of an API: JSON that holds its records in one list, under any name that is not that of something else. */
import { fieldNamed, kindOf } from "../map/names.ts";
import { mayHoldRecords, saysOfRecord, strangerField } from "../map/paths.ts";
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
  if (isRecord(value, [], items, isListing) || namesStranger(value, [], items)) return null;
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

/** Returns whether an object says something of a visitor or a visit outside of some lists. */
function isRecord(
  value: Record<string, unknown>,
  path: readonly string[],
  lists: ReadonlySet<unknown>,
  isListing: boolean,
): boolean {
  return Object.entries(value).some(([name, item]) => {
    if (lists.has(item) || item === null || item === "" || path.length === maxDepth) return false;
    const here = [...path, name];
    if (isObject(item)) return isRecord(item, here, lists, isListing);
    if (Array.isArray(item)) return item.some((inner) => isObject(inner) && isRecord(inner, here, lists, isListing));
    return typeof item !== "number" && saysOfRecord(here, isListing);
  });
}

/** Returns whether an unknown object outside of some lists names somebody: then the lists belong to that person. */
function namesStranger(value: Record<string, unknown>, path: readonly string[], lists: ReadonlySet<unknown>): boolean {
  return Object.entries(value).some(([name, item]) => {
    const here = [...path, name];
    if (lists.has(item) || here.length > maxDepth) return false;
    if (isObject(item)) return namesStranger(item, here, lists);
    const items = Array.isArray(item) ? item : [item];
    return items.some((one) =>
      isObject(one) ? fieldNamed(name) !== null && namesStranger(one, here, lists) : isStranger(here, one),
    );
  });
}

/** A count is no phone, and a link to the first page no name. */
function isStranger(path: readonly string[], value: unknown): boolean {
  if (typeof value !== "string" && typeof value !== "number") return false;
  const field = strangerField(path);
  if (field === "email" || field === "verified_email") return firstEmail(String(value)) !== null;
  if (field === "phone") return firstPhone(String(value)) !== null && /(?:\d\D*){7}/.test(String(value));
  return field !== null && /^[^\d/?=&:]*\p{L}[^\d/?=&:]*$/u.test(String(value));
}

/** A list of texts or numbers is a value; one without anything in it may be a page. */
function isList(list: readonly unknown[], depth = 0): boolean {
  if (list.length === 0) return true;
  return list.some((item) => isObject(item) || (depth < maxDepth && Array.isArray(item) && isList(item, depth + 1)));
}
