/** Pages of an API: JSON that holds its records in a list, by itself or under names that the table of fields knows. */
import type { Columns } from "../map/columns.ts";
import { bareNames, ofPerson, type Target } from "../map/former-fields.ts";
import { normalizeName } from "../map/names.ts";
import { isObject } from "./json-value.ts";

/** A list of records, and its parents: a name in a list of companies is that of a company. */
export interface Page {
  readonly items: readonly unknown[];
  readonly parents: readonly string[];
}

/** The maximal depth of a list of records. */
const maxDepth = 4;

const ofLead: ReadonlySet<Target | undefined> = new Set<Target>([
  ...ofPerson,
  ...(["company", "city", "state", "page_url", "pixel_id"] as const),
]);

/**
 * Returns the list of records that a JSON value is; null if it is a record, and the paths of the lists if it has several.
 * Around the list of a page, no name is a field of a lead.
 */
export function readPage(value: unknown, columns: Columns): Page | { readonly lists: readonly string[] } | null {
  if (Array.isArray(value)) return isList(value) ? { items: value, parents: [] } : null;
  if (!isObject(value)) return null;
  const lists = listsIn(value, [], columns);
  if (lists.length === 0) return null;
  const kindOf = ({ path }: List) => columns.kindOf(path.at(-1) ?? "");
  // The page itself may have a URL: { url, data: [{ … }] }.
  const isListing = lists.every((list) => ["page", "wrapper"].includes(kindOf(list) ?? ""));
  const isAddress = (name: string) =>
    bareNames.has(normalizeName(name)) && columns.meaningOf([name])?.target === "page_url";
  const own = Object.entries(value).filter(([name]) => !isListing || !isAddress(name));
  const items = new Set(lists.map((list) => list.items));
  if (isRecord(Object.fromEntries(own), [], items, columns)) return null;
  const full = lists.filter(({ items }) => items.length > 0);
  if (full.length > 1) {
    // Lists of one object each, and lists of visits, belong together.
    const isOneRecord = full.every((list) => list.items.length === 1 || kindOf(list) === "visit");
    return isOneRecord ? null : { lists: full.map(({ path }) => path.join(".")) };
  }
  const [list] = [...full, ...lists];
  if (list === undefined) return null;
  return { items: list.items, parents: kindOf(list) === "company" ? list.path.slice(-1) : [] };
}

interface List {
  readonly path: readonly string[];
  readonly items: readonly unknown[];
}

function listsIn(value: Record<string, unknown>, path: readonly string[], columns: Columns): List[] {
  return Object.entries(value).flatMap(([name, item]) => {
    const here = [...path, name];
    if (columns.kindOf(name) === null) return [];
    if (isObject(item)) return here.length < maxDepth ? listsIn(item, here, columns) : [];
    if (!Array.isArray(item) || !isList(item)) return [];
    // A list that a field is named after, such as pages, holds values of it unless these are pages themselves.
    const isValue = columns.meaningOf(here) !== null && !item.some(holdsList);
    return isValue ? [] : [{ path: here, items: item }];
  });
}

/** Returns whether an object has a field of a lead outside of some lists: then it is one record, and no page of records. */
function isRecord(
  value: Record<string, unknown>,
  path: readonly string[],
  lists: ReadonlySet<unknown>,
  columns: Columns,
): boolean {
  return Object.entries(value).some(([name, item]) => {
    if (lists.has(item) || item === null || item === "" || path.length === maxDepth) return false;
    const here = [...path, name];
    if (isObject(item)) return isRecord(item, here, lists, columns);
    const meaning = columns.meaningOf(here);
    // A listing may have a time and the number of a page: neither is that of a visit.
    const isOfVisit = meaning?.target === "identified_at" && /visited|seen|identified/.test(meaning.key);
    return isOfVisit || (ofLead.has(meaning?.target) && typeof item !== "number");
  });
}

/** A list of texts or numbers is a value; one without anything in it may be a page. */
function isList(list: readonly unknown[], depth = 0): boolean {
  if (list.length === 0) return true;
  return list.some((item) => isObject(item) || (depth < maxDepth && Array.isArray(item) && isList(item, depth + 1)));
}

function holdsList(item: unknown): boolean {
  return (
    isObject(item) && Object.values(item).some((inner) => Array.isArray(inner) && inner.length > 0 && isList(inner))
  );
}
