/** Pages of an API: JSON that holds its records in a list, by itself or under names that the table of fields knows. */
import type { Columns } from "../map/columns.ts";
import type { Target } from "../map/fields.ts";
import { isObject } from "./json-values.ts";

/** A list of records, and what they stand under. */
export interface Page {
  readonly items: readonly unknown[];
  /** In a list of companies, what is called a name is that of a company. */
  readonly parents: readonly string[];
}

/** How deep a list of records is at most. */
const maxDepth = 4;

const ofLead: ReadonlySet<Target> = new Set<Target>([
  ...(["name", "first_name", "last_name", "email", "verified_email", "phone", "company", "city", "state"] as const),
  ...(["page_url", "pixel_id"] as const),
]);

/**
 * Returns the list of records that a JSON value is; null if it is a record, and the paths of the lists if it has several.
 * Around the list of a page, no name is a field of a lead.
 */
export function readPage(value: unknown, columns: Columns): Page | { readonly lists: readonly string[] } | null {
  if (Array.isArray(value)) return isList(value) ? { items: value, parents: [] } : null;
  if (!isObject(value)) return null;
  const lists = listsIn(value, [], columns);
  if (lists.length === 0 || isRecord(value, [], new Set(lists.map(({ items }) => items)), columns)) return null;
  const full = lists.filter(({ items }) => items.length > 0);
  const [list] = full.length > 0 ? full : lists;
  if (list === undefined) return null;
  if (full.length > 1) {
    // Where each list has one object, or all are visits, they belong together.
    const isCrowded = full.some(({ path, items }) => items.length > 1 && columns.kindOf(path.at(-1) ?? "") !== "visit");
    return isCrowded ? { lists: full.map(({ path }) => path.join(".")) } : null;
  }
  const name = list.path.at(-1) ?? "";
  return { items: list.items, parents: columns.kindOf(name) === "company" ? [name] : [] };
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
    // A list that a field is named after, such as pages, holds values of it unless these are pages themselves.
    const isValue = columns.meaningOf(here) !== null && !(Array.isArray(item) && item.some(holdsList));
    return Array.isArray(item) && isList(item) && !isValue ? [{ path: here, items: item }] : [];
  });
}

/** Returns whether an object says anything of a lead outside of some lists. */
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
    const target = columns.meaningOf(here)?.target;
    // The page of a listing is a number, that of a visit is not.
    return target !== undefined && ofLead.has(target) && typeof item !== "number";
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
