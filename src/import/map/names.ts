/** The names of columns and objects: how they are compared, and what the table says of one name as a whole. */
import { namesOf } from "../../contract/names.ts";
import { aliases, type ObjectKind, objects, representatives, type Target } from "./fields.ts";
import { readZone } from "./values/zones.ts";

/** A name that is longer has no meaning: nothing looks a text of a stranger up. */
export const maxNameLength = 100;

/** A name of the table, with its field and its place in the table. */
export interface Alias {
  readonly target: Target;
  readonly order: number;
  readonly key: string;
}

/** The names of fields, as they are compared. */
export const aliasByKey: ReadonlyMap<string, Alias> = new Map(
  namesOf(aliases)
    .flatMap((target) => aliases[target].map((key) => ({ target, key })))
    .map((alias, order) => [alias.key, { ...alias, order }] as const),
);
/** A name of an object, with its kind and its position among the names of that kind. */
export interface Kind {
  readonly kind: ObjectKind;
  readonly order: number;
  readonly key: string;
}

/** The names of objects, as they are compared. */
export const kindByKey: ReadonlyMap<string, Kind> = new Map(
  namesOf(objects).flatMap((kind) => objects[kind].map((key, order) => [key, { kind, order, key }] as const)),
);

const minSingularLength = 3;

/** Looks a name up as a whole, or as a plural. */
export function find<Value>(table: ReadonlyMap<string, Value>, key: string): Value | undefined {
  const exact = table.get(key);
  if (exact !== undefined || !key.endsWith("s") || key.length <= minSingularLength) return exact;
  return table.get(key.slice(0, -1)) ?? (key.endsWith("es") ? table.get(key.slice(0, -2)) : undefined);
}

/** Normalizes a name for comparison: `Personal E-Mails` and `PERSONAL_EMAILS` are one. */
export function normalizeName(name: string): string {
  return wordsOf(name).join("");
}

/** Returns the words of a name, in lowercase: `firstName`, `First Name`, and `FIRST_NAME` have two. */
export function wordsOf(name: string): string[] {
  if (name.length > maxNameLength) return [];
  // Only with its underscore it is the wrapper of a search index.
  if (name === "_source") return [name];
  return name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** Returns whether an object with this name is transparent. */
export function isWrapper(name: string): boolean {
  return find(kindByKey, normalizeName(name))?.kind === "wrapper";
}

/** Returns the kind of the objects with this name; null if they hold no fields. */
export function kindOf(name: string): ObjectKind | null {
  return find(kindByKey, normalizeName(name))?.kind ?? null;
}

/** Returns whether a name is that of a person who is not the visitor. */
export function isRepresentative(name: string): boolean {
  return representatives.has(normalizeName(name)) || wordsOf(name).some((word) => representatives.has(word));
}

/** Returns the field with exactly this name; null if the table has no such name. */
export function fieldNamed(name: string): Target | null {
  return find(aliasByKey, normalizeName(name))?.target ?? null;
}

/**
 * Returns the names of a path, of which one of CSV may have several: a dot separates them where the first one is a parent, or
 * one is the number of an item. Null if a name is too long.
 */
export function splitPath(path: readonly string[], isParent: (name: string) => boolean): readonly string[] | null {
  if (path.some((name) => name.length > maxNameLength)) return null;
  return path.flatMap((name) => {
    const parts = name.replaceAll(/\[(\d{1,3})\]/g, ".$1").split(".");
    const [first = ""] = parts;
    const isPath = parts.length > 1 && parts.every((part) => normalizeName(part) !== "");
    if (!isPath || !(kindOf(first) !== null || isParent(first) || parts.slice(1).some(isNumber))) return [name];
    // Of a list, the first item counts.
    return parts.filter((part) => part !== "0");
  });
}

const isNumber = (part: string) => /^\d{1,3}$/.test(part);

/** Splits a name into the zone at its end and the rest: `Visited At (PT)`, `Time UTC-5`, `created_at_utc`. */
export function withoutZone(name: string): { readonly rest: string; readonly zone: string | null } {
  if (name.length > maxNameLength) return { rest: name, zone: null };
  const [, rest = "", text = ""] =
    /^(.*\S)\s*[([]\s*([^()[\]]+?)\s*[)\]]\s*$/.exec(name) ??
    /^(.*[^\s_-])[\s_-]+((?:utc|gmt)(?:[+-][\d:]+)?|[ecmp][sd]?t|ces?t)$/i.exec(name) ??
    /^(.*\p{Ll})(UTC|Utc|GMT|Gmt)$/u.exec(name) ??
    [];
  return { rest, zone: text === "" ? null : readZone(text) };
}
