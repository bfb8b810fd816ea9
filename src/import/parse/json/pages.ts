/** Pages of an API: JSON that holds many records in a list, by itself or somewhere within an object. */

import type { Target } from "../../map/columns/aliases.ts";
import type { Columns } from "../../map/columns/columns.ts";
import { isObject } from "./flatten.ts";

/** What a JSON value is: one record, a page of them, people under their ids, or lists of which its owner has to choose. */
type Shape =
  | { readonly kind: "record"; readonly record: Readonly<Record<string, unknown>> }
  | { readonly kind: "page"; readonly items: readonly unknown[]; readonly path: readonly string[] }
  | { readonly kind: "by id"; readonly path: readonly string[] }
  | { readonly kind: "unclear"; readonly paths: readonly (readonly string[])[] }
  | { readonly kind: "other" };

type TargetOf = Columns["targetOf"];

interface List {
  readonly path: readonly string[];
  readonly items: readonly unknown[];
  /** What its first record says. */
  readonly says: ReadonlySet<Target>;
}

/** How deep a list of records lies at most. */
const deepest = 4;

/** Names of a list that is what a page is about, whatever stands around it. */
const ofPage =
  /^(?:data|results?|items|records|rows|list|entries|hits|objects|payload|response|events|leads|visitors|visits|sessions|identities)$/i;

const ofPerson: ReadonlySet<Target> = new Set<Target>([
  ...(["name", "first_name", "last_name", "email", "verified_email", "phone", "company", "city", "state"] as const),
]);
const ofVisit: ReadonlySet<Target> = new Set<Target>(["identified_at", "page_url", "pixel_id"]);

/**
 * Tells a page from a record by the meaning of its names: around the list of a page, no name says anything of a
 * visitor.
 */
export function readPage(value: unknown, columns: Columns): Shape {
  if (Array.isArray(value)) return isPlainList(value) ? { kind: "other" } : { kind: "page", items: value, path: [] };
  if (!isObject(value)) return { kind: "other" };
  const ids = pathOfIds(value, [], columns.targetOf);
  if (ids !== null) return { kind: "by id", path: ids };
  const lists = listsIn(value, [], columns.targetOf);
  const [list] = lists;
  if (list === undefined) return { kind: "record", record: value };
  const around = meaningsOf(value, columns.targetOf, new Set(lists.map(({ items }) => items)));
  if (lists.length > 1) return readLists(value, lists, around);
  return isPage(list, around)
    ? { kind: "page", items: list.items, path: list.path }
    : { kind: "record", record: value };
}

/**
 * Where there are several lists, one may hold the people. Then the other lists cannot be said to belong to one of them.
 */
function readLists(record: Record<string, unknown>, lists: readonly List[], around: ReadonlySet<Target>): Shape {
  const several = lists.filter(({ items }) => items.length > 1);
  const crowded = several.some(({ says }) => says.has("email")) && !shares(around, ofPerson);
  return crowded ? { kind: "unclear", paths: lists.map(({ path }) => path) } : { kind: "record", record };
}

function isPage({ path, items, says }: List, around: ReadonlySet<Target>): boolean {
  const named = ofPage.test(path.at(-1) ?? "");
  if (items.length === 0) return around.size === 0;
  if (shares(around, ofPerson)) return named && says.has("email");
  return named || !shares(around, ofVisit);
}

/** The lists in an object whose records say something of a visitor; where there are none, the empty ones. */
function listsIn(value: Record<string, unknown>, path: readonly string[], targetOf: TargetOf): List[] {
  const lists = allListsIn(value, path, targetOf);
  const speaking = lists.filter(({ says }) => says.size > 0);
  return speaking.length > 0 ? speaking : lists.filter(({ items }) => items.length === 0);
}

function allListsIn(value: Record<string, unknown>, path: readonly string[], targetOf: TargetOf): List[] {
  const lists: List[] = [];
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== "object" || item === null) continue;
    const here = [...path, name];
    if (isObject(item)) {
      if (here.length < deepest) lists.push(...allListsIn(item, here, targetOf));
    } else if (Array.isArray(item) && !isPlainList(item) && (targetOf(here) === null || item.some(holdsObjects))) {
      // A list that a field is named after, such as emails, holds values of it and no records.
      lists.push({ path: here, items: item, says: saidBy(item[0], targetOf) });
    }
  }
  return lists;
}

/** Where people stand in an object under their ids. */
function pathOfIds(
  value: Record<string, unknown>,
  path: readonly string[],
  targetOf: TargetOf,
): readonly string[] | null {
  const entries = Object.entries(value);
  if (isById(entries)) return most(entries, ([, item]) => saidBy(item, targetOf).has("email")) ? path : null;
  if (path.length === deepest) return null;
  for (const [name, item] of entries) {
    const found = isObject(item) ? pathOfIds(item, [...path, name], targetOf) : null;
    if (found !== null) return found;
  }
  return null;
}

/** An id that was drawn by lot may be without a digit, a person's address or name is. */
function isById(entries: readonly (readonly [name: string, item: unknown])[]): boolean {
  return (
    entries.length > 1 && entries.every(([, item]) => isObject(item)) && most(entries, ([name]) => /[\d@\s]/.test(name))
  );
}

/** Whether something is true of more than half of a list. */
function most<Item>(items: readonly Item[], isTrue: (item: Item) => boolean): boolean {
  return items.filter(isTrue).length * 2 > items.length;
}

function saidBy(item: unknown, targetOf: TargetOf): ReadonlySet<Target> {
  if (Array.isArray(item)) return saidBy(item[0], targetOf);
  return isObject(item) ? meaningsOf(item, targetOf, new Set()) : new Set();
}

/** What the names in an object mean, those in some lists aside. */
function meaningsOf(value: Record<string, unknown>, targetOf: TargetOf, aside: ReadonlySet<unknown>): Set<Target> {
  const targets = pathsIn(value, [], aside).map(targetOf);
  return new Set(targets.filter((target) => target !== null));
}

/** The paths to the values of an object that are not empty; of a list its first object. */
function pathsIn(value: unknown, path: readonly string[], aside: ReadonlySet<unknown>): (readonly string[])[] {
  if (value === null || value === "" || aside.has(value) || path.length > deepest) return [];
  const inner = Array.isArray(value) ? value[0] : value;
  if (isObject(inner)) return Object.entries(inner).flatMap(([name, item]) => pathsIn(item, [...path, name], aside));
  // The page of a listing is a number, that of a visit is not.
  return typeof inner === "number" && path.at(-1) === "page" ? [] : [path];
}

function shares(one: ReadonlySet<Target>, other: ReadonlySet<Target>): boolean {
  return [...one].some((target) => other.has(target));
}

/** A list of texts or numbers is a value; one without anything in it may be a page. */
function isPlainList(list: readonly unknown[]): boolean {
  return list.length > 0 && !isListOfObjects(list);
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.some((item) => isObject(item) || isListOfObjects(item));
}

/** Whether an object is a page by itself: what lies in it is a list of objects. */
function holdsObjects(item: unknown): boolean {
  return isObject(item) && Object.values(item).some(isListOfObjects);
}
