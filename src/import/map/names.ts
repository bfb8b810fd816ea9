/** The meaning of a path: its parents and its name, looked up in the table of fields. */
import { namesOf } from "../../contract/names.ts";
import {
  aliases,
  bareNames,
  flatWrapper,
  notKept,
  type ParentKind,
  pages,
  parents as parentTable,
  type Target,
  valueNames,
} from "./former-fields.ts";
import { readZone } from "./values/zones.ts";

/** The field that a path gives, and how it is preferred to other paths. */
export interface Meaning {
  readonly target: Target;
  /** Of several values for one field, the lowest rank is preferred: the shortest path, then the order of the aliases. */
  readonly rank: number;
  /** True of the location of a company, which counts only in a record that names no person. */
  readonly isOfCompany: boolean;
  /** The zone of a time, if the name has one: `Visited At (PT)`. */
  readonly zone: string | null;
  /** The name as it is compared. */
  readonly key: string;
  /** Its parents as they are compared, apart from wrappers. */
  readonly parents: string;
}

interface Parent {
  readonly kind: ParentKind;
  readonly key: string;
}

/** An alias without parents. Its rank is its position in the table. */
type Alias = Pick<Meaning, "target" | "rank" | "key">;

/** More aliases than the table has. */
const perLevel = 10_000;

// The first mention of a name counts, but a map keeps the last.
const aliasByKey: ReadonlyMap<string, Alias> = new Map(
  namesOf(aliases)
    .flatMap((target) => aliases[target].map((key) => ({ target, key })))
    .map(({ target, key }, rank) => [key, { target, rank, key }] as const)
    .toReversed(),
);
const kinds: ReadonlyMap<string, ParentKind> = new Map(
  namesOf(parentTable).flatMap((kind) => parentTable[kind].map((key) => [key, kind] as const)),
);

/** Normalizes a name for comparison to letters and digits of any script: `Personal E-Mails` and `PERSONAL_EMAILS` are one. */
export function normalizeName(name: string): string {
  return wordsOf(name).join("");
}

/** Returns the words of a name, in lowercase: `firstName`, `First Name`, and `FIRST_NAME` have two. */
function wordsOf(name: string): string[] {
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

/** Returns the meaning of a path; null if it is not a field of a lead. */
export function meaningOfPath(path: readonly string[]): Meaning | null {
  const { rest, zone } = withoutZone(path.at(-1) ?? "");
  const zoned = zone === null ? null : meaningOf([...path.slice(0, -1), rest]);
  if (zoned?.target === "identified_at") return { ...zoned, zone, rank: zoned.rank - (zone === "UTC" ? 0.5 : 0) };
  return meaningOf(path);
}

/** Removes the wrappers from a path. */
export function withoutWrappers(path: readonly string[]): readonly string[] {
  return path.filter((name, place) => place === path.length - 1 || parentsIn(wordsOf(name))?.[0]?.kind !== "wrapper");
}

/** Returns the kind of the innermost parent in a name, or that it is one of a page; null if it is neither. */
export function kindOf(name: string): ParentKind | "page" | null {
  return parentsIn(wordsOf(name))?.at(-1)?.kind ?? (pages.includes(normalizeName(name)) ? "page" : null);
}

/** Returns whether a path that is no field is a time of something else: `Account Created At`, `owner.seen`. */
export function isForeignTime(path: readonly string[]): boolean {
  const segments = path.map(wordsOf);
  const parents = parentsOf(segments.slice(0, -1));
  if (parents === null || parents.some(({ kind }) => kind !== "wrapper" && kind !== "visit")) return true;
  const words = segments.at(-1) ?? [];
  if (words.some((word) => word.startsWith("birth"))) return true;
  const endings = words.map((_, split) => words.slice(split).join("")).slice(1);
  // `Updated At` and `Renewal Date` do not say whose time it is.
  return endings.some((ending) => !kindsOfTime.has(ending) && aliasOf(ending)?.target === "identified_at");
}

/** Words for a time that do not say what happened at it. */
const kindsOfTime: ReadonlySet<string> = new Set(["at", "date", "day", "time", "datetime", "timestamp"]);

/** Returns the field that a path which is no field would be by its last words, to suggest a --map. */
export function likelyTarget(path: readonly string[]): Target | null {
  const words = wordsOf(path.at(-1) ?? "");
  const endings = words.map((_, split) => aliasOf(words.slice(split).join("")));
  return endings.find((alias) => alias !== null)?.target ?? null;
}

/** Returns whether a name says that its values are times. */
export function looksLikeTimeName(name: string): boolean {
  const words = wordsOf(name);
  return (
    /^(?:date|time)/.test(words[0] ?? "") || /(?:date|time|timestamp|^at|^on|^seen|^when)$/.test(words.at(-1) ?? "")
  );
}

function meaningOf(path: readonly string[]): Meaning | null {
  // A dot in a name separates parents too: tables are made of JSON in this way. Of a list, they have the first element.
  const segments = path
    .flatMap((name) => name.replaceAll(/\[(\d+)\]/g, ".$1").split("."))
    .filter((segment) => segment !== "0")
    .map(wordsOf);
  // Without parents before it, a dot is between two words: `first.name`.
  const isWhole = path.length === 1 && parentsOf(segments.slice(0, -1)) === null;
  return inPlace(segments) ?? (isWhole ? inPlace([segments.flat()]) : null);
}

function inPlace(segments: readonly (readonly string[])[]): Meaning | null {
  const words = segments.at(-1);
  if (words === undefined) return null;
  const outer = segments.length === 1 ? null : inPlace(segments.slice(0, -1));
  const name = words.join("");
  const order = ["value", ...((outer && valueNames[outer.target]) ?? [])].indexOf(name);
  if (outer !== null && order !== -1) return { ...outer, rank: outer.rank + order / 100 };
  const parents = parentsOf(segments.slice(0, -1));
  const own = parents === null ? null : ofWords(words, parents);
  // Only the name of a company is kept. company.business is its industry, not its name.
  const alias = own === null && outer?.target !== "company" && !bareNames.has(name) ? aliasOf(name) : null;
  if (outer === null || alias?.target !== outer.target) return own;
  return { ...outer, rank: outer.rank + alias.rank / perLevel };
}

/** Returns the meaning of a name that is in the table, or begins with its parents: `contact_email`, `Page Visits URL`. */
function ofWords(words: readonly string[], parents: readonly Parent[]): Meaning | null {
  if (notKept.has(words.join(""))) return null;
  for (let split = 0; split < words.length; split++) {
    const own = parentsIn(words.slice(0, split));
    const isWrapped = own?.[0]?.kind === "wrapper" && own[0].key !== flatWrapper;
    const alias = own === null || isWrapped ? null : aliasOf(words.slice(split).join(""));
    // The ID of a contact is not that of a visit.
    if (own === null || alias === null || (split > 0 && alias.target === "id")) continue;
    const meaning = within([...parents, ...own], alias);
    if (meaning !== null) return meaning;
  }
  return null;
}

/** Returns the parents that some names are, or null if one of them is no parent of a lead's values. */
function parentsOf(segments: readonly (readonly string[])[]): Parent[] | null {
  const found = segments.map(parentsIn);
  return found.includes(null) ? null : found.flatMap((some) => some ?? []);
}

/** Returns the parents that words name, each with one word or two; null if they name something else. */
function parentsIn(words: readonly string[]): Parent[] | null {
  if (words.length === 0) return [];
  for (const length of [2, 1]) {
    const key = words.slice(0, length).join("");
    const kind = words.length < length ? undefined : (kinds.get(key) ?? kinds.get(key.replace(/s$/, "")));
    const rest = kind === undefined ? null : parentsIn(words.slice(length));
    if (kind !== undefined && rest !== null) return [{ kind, key }, ...rest];
  }
  return null;
}

const ofLocation: ReadonlySet<Target> = new Set(["city", "state", "country"]);
const ofVisit: ReadonlySet<Target> = new Set(["identified_at", "pixel_id", "page_url", "referrer", "traffic_source"]);

/** Returns the meaning of a name under some parents; null if they do not give such a field. */
function within(parents: readonly Parent[], { target, rank: order, key }: Alias): Meaning | null {
  const around = parents.filter(({ kind }) => kind !== "wrapper");
  const rank = perLevel * (around.length + 1) + order;
  const place = around.map((parent) => parent.key).join(".");
  const meaning = { target, rank, isOfCompany: false, zone: null, key, parents: place };
  const inner = around.at(-1);
  if (inner === undefined) return meaning;
  if (notKept.has(inner.key + key)) return null;
  const company = around.findIndex(({ kind }) => kind === "company");
  if (company !== -1) return withinCompany(around.slice(company + 1), meaning);
  return gives(inner, target, key) ? meaning : null;
}

/** A company gives its name, and its location, whatever is between them. */
function withinCompany(parents: readonly Parent[], meaning: Meaning): Meaning | null {
  const areAll = (wanted: ParentKind) => parents.every(({ kind }) => kind === wanted);
  if (areAll("company") && meaning.target === "name") return { ...meaning, target: "company" };
  return areAll("location") && ofLocation.has(meaning.target) ? { ...meaning, isOfCompany: true } : null;
}

/** Returns whether the innermost parent of a value gives such a field under this name. */
function gives({ kind, key: parent }: Parent, target: Target, key: string): boolean {
  if (kind === "location") return ofLocation.has(target);
  if (kind === "visit") return ofVisit.has(target) || (target === "id" && parent === "event");
  if (target === "id" || target === "time_zone") return false;
  return !(ofVisit.has(target) && bareNames.has(key));
}

function aliasOf(name: string): Alias | null {
  const key = canonical(name);
  // A second or third of its kind, not a bracket such as "Age 18-24".
  const numbered = key.replace(/(?<!\d)(?:[1-9]|10)$/, "");
  const nth = numbered === key ? undefined : aliasByKey.get(numbered);
  return (
    aliasByKey.get(key) ??
    (nth && { ...nth, rank: nth.rank + Number(key.slice(numbered.length)) / 100 }) ??
    (key.length > 4 ? aliasByKey.get(key.replace(/s$/, "")) : undefined) ??
    null
  );
}

/** Writes the variants of a word in one way, so that the table needs only that one. */
function canonical(name: string): string {
  return name
    .replaceAll(/emails?(?:addresse?s?)?/g, "email")
    .replaceAll(/(?:tele|cell)?phone(?:no|nr|numbers?)?s?/g, (word) => (word.startsWith("cell") ? "mobile" : "phone"))
    .replaceAll(/mobile(?:phone|number|no)?s?/g, "mobile")
    .replace(/^cell(?:number)?$/, "mobile")
    .replace(/landlines$/, "landline")
    .replaceAll("organisation", "organization")
    .replace(/(timestamp|time|at|date)(?:ms|millis|micros|iso|unix|epoch|seconds)$/, "$1");
}

/** Splits a name into the zone at its end and the rest: `Visited At (PT)`, `Time UTC-5`, `created_at_utc`. */
export function withoutZone(name: string): { readonly rest: string; readonly zone: string | null } {
  const [, rest = "", text = ""] =
    /^(.*\S)\s*[([]\s*([^()[\]]+?)\s*[)\]]\s*$/.exec(name) ??
    /^(.*[^\s_-])[\s_-]+((?:utc|gmt)(?:[+-][\d:]+)?|[ecmp][sd]?t|ces?t)$/i.exec(name) ??
    /^(.*\p{Ll})(UTC|Utc|GMT|Gmt)$/u.exec(name) ??
    [];
  return { rest, zone: text === "" ? null : readZone(text) };
}
