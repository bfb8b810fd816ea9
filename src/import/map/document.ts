/** Finds the list of records in a JSON document, under any name that has no other meaning. */
import { isObject } from "../parse/json-value.ts";
import { bareNames, namingFields, otherLists, type Target } from "./fields.ts";
import { fieldNamed, isRepresentative, kindOf, normalizeName, splitPath } from "./names.ts";
import { type Meaning, meaningOf, strangeField } from "./paths.ts";
import { firstEmail } from "./values/emails.ts";
import { firstPhone } from "./values/phones.ts";

/** A list of records, and the names of its parents: a `name` in a list of companies is that of a company. */
export interface Page {
  readonly items: readonly unknown[];
  readonly parents: readonly string[];
}

/** A path in a document. */
interface Path {
  readonly names: readonly string[];
  readonly kind: ReturnType<typeof kindOf>;
  /** True if --map makes the items of a list at this path the person. */
  readonly isChosen: boolean;
  readonly inDocument: PathInDocument;
  at(name: string): Path;
}

/** The meaning of a path for its document. */
export interface PathInDocument {
  /** True if a list with this name may be the list of records. */
  readonly mayHoldRecords: boolean;
  /**
   * The evidence of a value at this path that the document is one record: none; proof even if the value is empty; proof if it
   * is not empty; proof except in a listing, which has its own time, address, and name; or proof if the value fits the field,
   * because it would name somebody in an unknown object.
   */
  readonly says: "nothing" | "person" | "record" | "record but for a listing" | Target;
}

/** The maximum depth of a list of records. */
const maxDepth = 4;

interface List {
  readonly path: Path;
  readonly items: readonly unknown[];
}

/**
 * Returns the list of records that a JSON value is or has; null if the value is a record, and the paths of the lists if it has
 * several. Nothing around the list of a page describes a visitor or a visit.
 */
export function readPage(value: unknown, root: Path): Page | { readonly lists: readonly string[] } | null {
  if (Array.isArray(value)) return isList(value) ? { items: value, parents: [] } : null;
  if (!isObject(value)) return null;
  const lists = listsIn(value, root);
  if (lists.length === 0) return null;
  const isListing = lists.every(({ path }) => path.kind === "wrapper" || path.kind === null);
  const items = new Set<unknown>(lists.map((list) => list.items));
  if (isRecord(value, root, { lists: items, isListing })) return null;
  const full = lists.filter(({ items }) => items.length > 0);
  if (full.length > 1) {
    // Lists with one object each belong to one record.
    const isOne = full.every(({ items }) => items.length === 1);
    return isOne ? null : { lists: full.map(({ path }) => path.names.join(".")) };
  }
  const [list] = [...full, ...lists];
  if (list === undefined) return null;
  const { names, kind, isChosen } = list.path;
  if (isChosen) return { items: list.items, parents: names };
  return { items: list.items, parents: kind === "company" ? names.slice(-1) : [] };
}

function listsIn(value: Record<string, unknown>, path: Path): List[] {
  return Object.entries(value).flatMap(([name, item]) => {
    if (typeof item !== "object" || item === null) return [];
    const here = path.at(name);
    if (isObject(item)) return here.names.length < maxDepth ? listsIn(item, here) : [];
    const holdsRecords = Array.isArray(item) && isList(item) && !arePairs(item) && here.inDocument.mayHoldRecords;
    return holdsRecords ? [{ path: here, items: item }] : [];
  });
}

/** Returns whether a list has only pairs of a name and a value, like the fields of a form. They are one record. */
function arePairs(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every((item) => isObject(item) && isPair(Object.keys(item)));
}

function isPair(names: readonly string[]): boolean {
  return names.length === 2 && names.includes("name") && (names.includes("value") || names.includes("values"));
}

/** The lists in a document. `isListing` is true if no list is named after anything other than records. */
interface Around {
  readonly lists: ReadonlySet<unknown>;
  readonly isListing: boolean;
}

/** Returns whether anything around the lists describes a visitor or a visit. If so, the lists belong to that record. */
function isRecord(value: Record<string, unknown>, path: Path, around: Around): boolean {
  return Object.entries(value).some(([name, item]) => {
    const here = path.at(name);
    if (around.lists.has(item) || here.names.length > maxDepth) return false;
    const isNobody = here.kind === "person" && isObject(item) && Object.keys(item).length === 0;
    return (
      isNobody ||
      (Array.isArray(item) ? item : [item]).some((one) =>
        isObject(one) ? isRecord(one, here, around) : saysOfRecord(here, one, around),
      )
    );
  });
}

function saysOfRecord({ inDocument: { says }, kind }: Path, value: unknown, { isListing }: Around): boolean {
  // A record has a visitor even if nobody was identified, so the entries of its lists are not the leads.
  if (says === "person") return typeof value !== "number" || isPhone(String(value));
  if (value === null || value === "") return value === null && kind === "person";
  if (says === "record") return typeof value !== "number";
  if (says === "record but for a listing") return typeof value !== "number" && !isListing;
  return says !== "nothing" && isOfField(says, String(value));
}

function isOfField(target: Target, text: string): boolean {
  if (target === "email" || target === "verified_email") return firstEmail(text) !== null;
  // A count is not a phone, and a link to a page is not a name.
  return target === "phone" ? isPhone(text) : /^[^\d/?=&:]*\p{L}[^\d/?=&:]*$/u.test(text);
}

function isPhone(text: string): boolean {
  return firstPhone(text) !== null && /(?:\d\D*){7}/.test(text);
}

/** Returns the meaning of a path for its document. */
export function pathInDocument(path: readonly string[]): PathInDocument {
  const name = path.at(-1) ?? "";
  const field = fieldNamed(name);
  // A list of events or sessions may be the list of records. Any other list of visits belongs to a record.
  const isVisits = kindOf(name) === "visit" && !/^(?:event|session)s?$/.test(normalizeName(name));
  const isField = field !== null && !hasNoObjects.has(field);
  const isOfOther = path.some((one) => isOther(one) || (isRepresentative(one) && !(one !== name && isTenant(one))));
  return { mayHoldRecords: !isOfOther && !isVisits && !isField, says: saidBy(path) };
}

function saidBy(path: readonly string[]): PathInDocument["says"] {
  const names = splitPath(path, () => false) ?? [];
  const meaning = meaningOf(names);
  if (meaning !== null) return saidInKnown(meaning, names.at(-1) ?? "");
  const target = strangeField(names)?.target ?? "name";
  return target === "name" || names.some((one) => isOther(one) || isRepresentative(one)) ? "nothing" : target;
}

function saidInKnown({ target, use, isBareName }: Meaning, name: string): PathInDocument["says"] {
  if (target === null) {
    // An email address in a visit is not read, but it shows that the document is one record, not a list.
    const own = fieldNamed(name);
    return own !== null && own !== "name" && namingFields.has(own) ? own : "nothing";
  }
  if (isBareName || use === "id" || use === "time zone" || use === "creation") return "nothing";
  if (use === "person" && target !== "name" && namingFields.has(target)) return "person";
  if (!bareNames.has(normalizeName(name)) || target === "pixel_id") return "record";
  return target === "identified_at" ? "nothing" : "record but for a listing";
}

/** Fields whose values are never in a list of objects. Such a list, for example `matched`, may be the list of records. */
const hasNoObjects: ReadonlySet<Target> = new Set(["id", "identified_at", "pixel_id"]);

/** Returns whether a name is that of an object in which an API may put the records of one of its customers. */
function isTenant(name: string): boolean {
  return /^(?:account|company|business|team|user|customer)$/.test(normalizeName(name));
}

function isOther(name: string): boolean {
  return otherLists.has(normalizeName(name).replace(/s$/, ""));
}

/** Returns whether a list may have records. A list of texts or numbers is a value; an empty list may be a page. */
function isList(list: readonly unknown[], depth = 0): boolean {
  if (list.length === 0) return true;
  return list.some((item) => isObject(item) || (depth < maxDepth && Array.isArray(item) && isList(item, depth + 1)));
}
