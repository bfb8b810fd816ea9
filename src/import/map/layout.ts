/**
 * The layout of a record: by its names, it is decided who may be the person, and which columns hold the fields of a lead if
 * they are. Who is the person is decided by values (lead.ts).
 */
import type { Column } from "./column.ts";
import { flatPrefixes, namingFields, personFields, type Target } from "./fields.ts";
import { normalizeName } from "./names.ts";
import type { Origin, Origins } from "./origins.ts";
import type { Meaning } from "./paths.ts";
import { type Profile, type Profiles, recognize } from "./profiles.ts";

/** The columns of one record: records that name the same things in the same order share a layout. */
export interface Layout {
  readonly columns: readonly Column[];
  /** The profile by which the record was recognized; null if it was by none. */
  readonly profile: Profile | null;
  /** The objects that may be the person, in order of likelihood. */
  readonly candidates: readonly Candidate[];
  /** The object that gives the fields if none of the candidates names a person. */
  readonly fallback: Candidate;
  /** All objects that may name a person, to warn of those that are not read. */
  readonly people: readonly Candidate[];
  /** True if the record has a list of several visits, of which one is read. */
  readonly hasSeveralVisits: boolean;
  /** True if the record has a list of several people. */
  readonly hasSeveralPeople: boolean;
  /** The columns from which the fields of its leads came. */
  readonly origin: Origin;
}

/** An object that may be the person, and the columns of all fields of the lead if it is. */
export interface Candidate {
  /** The path of the object; empty for the record itself. */
  readonly path: string;
  /** Its path, or the prefix of the flat names that name the person in the record. */
  readonly title: string;
  /** True of a list of several people, which names nobody. */
  readonly isCrowd: boolean;
  /** The columns of the values that name the person. */
  readonly naming: readonly Naming[];
  /** True of the traits of the record, which are a part of the record if that is the person. */
  readonly isTraits: boolean;
  readonly of: ByField;
  /** The location of a company, which counts only in a record that names no person. */
  readonly ofCompany: ByField;
  /** The columns of names, the preferred first: of a whole name, or of a first and of a last name. */
  readonly names: readonly (readonly (readonly number[])[])[];
}

/** A value that names a person. */
export interface Naming {
  readonly at: number;
  readonly target: Target;
}

/** The column indexes of each field, in order of preference. Fields without a column are omitted. */
export type ByField = { readonly [Field in Target]?: readonly number[] };

/** The rules for the records of a source. */
export interface LayoutRules {
  readonly profiles: Profiles;
  /** True if --vendor chose the profile, which then needs not recognize a record. */
  readonly isVendorChosen: boolean;
  readonly meaningFor: (column: Column, profile: Profile | null) => Meaning | null;
  readonly origins: Origins;
}

/** A value of a record with its meaning. */
interface Entry extends Meaning {
  readonly at: number;
  /** True if --map or a profile makes it a field. */
  readonly isGiven: boolean;
}

/** An object that may be the person, with the values in it. */
interface Group {
  readonly person: Meaning["person"];
  readonly entries: Entry[];
  isCrowd: boolean;
}

/** Returns the layout of a record with some columns. */
export function createLayout(columns: readonly Column[], rules: LayoutRules): Layout {
  const profile = profileOf(columns, rules);
  const entries = entriesOf(columns, rules, profile);
  const mapped = entries.filter(({ isGiven }) => isGiven);
  const { record, others } = groupsOf(columns, entries);
  const strangers = mergePrefixes(record, others);
  // If the object of the visitor is empty, nobody was identified, and a `user` is not read as the visitor.
  const isNobody = columns.some(
    ({ several, meaning, isIgnored }) => several === "nobody" && !isIgnored && meaning?.person.kind === "person",
  );
  removeBareNames(record, others, entries, isNobody);
  const isNamed = [...record.entries, ...mapped].some(isNaming);
  const persons = others.filter(({ person }) => person.kind === "person").toSorted(byLikelihood);
  const doubtful = doubtfulOf(columns, others).toSorted(byLikelihood);
  const isChosen = profile?.person !== undefined || persons.some(({ person }) => person.order < 0);
  const candidateOf = (group: Group) => createCandidate(group, record, others, mapped);
  const chosen = isChosen ? chosenOf(persons, record) : null;
  const asRecord = candidateOf(record);
  const asPersons = persons.map(candidateOf);
  const asDoubtful = doubtful.map(candidateOf);
  const people = [asRecord, ...asPersons, ...asDoubtful, ...strangers.map(candidateOf)].filter(
    ({ naming, isCrowd }) => naming.length > 0 || isCrowd,
  );
  const mayBeDoubtful = !isNamed && persons.length === 0 && !isNobody;
  return {
    columns,
    profile,
    candidates:
      chosen !== null
        ? [candidateOf(chosen)]
        : [...(isNamed ? [asRecord] : []), ...asPersons, ...(mayBeDoubtful ? asDoubtful : [])],
    fallback: chosen !== null ? candidateOf(chosen) : (asPersons.find(({ isCrowd }) => !isCrowd) ?? asRecord),
    people: isChosen ? [] : people,
    hasSeveralPeople: columns.some(({ several, isIgnored }) => several === "people" && !isIgnored),
    hasSeveralVisits: columns.some(({ several }) => several === "visits"),
    origin: rules.origins.begin(columns),
  };
}

function profileOf(columns: readonly Column[], { profiles, isVendorChosen }: LayoutRules): Profile | null {
  const [first = null] = profiles;
  if (isVendorChosen || first === null) return first;
  return recognize(profiles, new Set(columns.map(({ key }) => key)));
}

/** Returns the values that have a meaning in a record, in the order of their columns. */
function entriesOf(columns: readonly Column[], rules: LayoutRules, profile: Profile | null): Entry[] {
  const entries = columns.flatMap((column, at) => entryOf(column, at, rules, profile) ?? []);
  // A place with a name or an ID is one of its own, such as a shop.
  const named = entries.filter(({ use }) => use === "own name of a place").map(({ place }) => place ?? "");
  const isOfNamed = ({ place }: Entry) =>
    place !== null && named.some((name) => place === name || place.startsWith(`${name}.`));
  return withFamilyNames(entries, columns).filter((entry) => !isOfNamed(entry));
}

/** Returns the entry of a column: by --map, else by the profile, else by the table. Null if its values are not kept. */
function entryOf(column: Column, at: number, { meaningFor }: LayoutRules, profile: Profile | null): Entry | null {
  const { mapped, key, isIgnored, zone, several } = column;
  if (isIgnored || several === "nobody") return null;
  const isValue = several === null;
  if (mapped != null) {
    return isValue ? { ...given, target: mapped.target, rank: mapped.order - 2 * maxMapped, zone, at } : null;
  }
  // `identified_at` and `pixel_id` of the record take precedence over every profile, but not over --map.
  const isOwn = ownKeys.has(key);
  const own = isValue && !isOwn ? profile?.fields.get(key) : undefined;
  if (own !== undefined) return { ...given, target: own.target, rank: own.order - maxMapped, zone, at };
  const meaning = meaningFor(column, profile);
  if (meaning === null || (profile !== null && !isOwn && isDecidedBy(profile, meaning.target))) return null;
  const rank = isOwn && profile !== null ? meaning.rank - 1.5 * maxMapped : meaning.rank;
  return { ...meaning, isGiven: false, at, rank };
}

const ownKeys: ReadonlySet<string> = new Set(["identifiedat", "pixelid"]);
const wholeName: readonly Target[] = ["name", "first_name", "last_name"];

/** Returns whether a profile alone decides a field. */
function isDecidedBy({ targets, person }: Profile, target: Target | null): boolean {
  if (target === null) return false;
  if (person === null && personFields.has(target)) return true;
  return targets.has(target) || (wholeName.includes(target) && wholeName.some((other) => targets.has(other)));
}

/** In German, `Name` next to `Vorname` is the family name. */
function withFamilyNames(entries: readonly Entry[], columns: readonly Column[]): readonly Entry[] {
  const isCalled = ({ at, isGiven }: Entry, name: string) =>
    !isGiven && normalizeName(columns[at]?.names.at(-1) ?? "") === name;
  const first = entries.find((entry) => isCalled(entry, "vorname"));
  if (first === undefined || entries.some(({ target }) => target === "last_name")) return entries;
  return entries.map((entry) =>
    entry.around === first.around && isCalled(entry, "name")
      ? { ...entry, target: "last_name", isBareName: false }
      : entry,
  );
}

/** More parts than a command line has. A value of --map has a lower rank than any other one. */
const maxMapped = 1_000_000;
/** The meaning of a value that --map or a profile makes a field. It does not depend on which object is the person. */
const given = {
  use: "person",
  person: { path: "", kind: "record", order: 0, prefix: null, isTraits: false },
  around: "",
  place: null,
  isBareName: false,
  isGiven: true,
} as const;

/** Groups values by the object of their person. Values that --map or a profile gives belong to every candidate. */
function groupsOf(columns: readonly Column[], entries: readonly Entry[]): { record: Group; others: Group[] } {
  const record: Group = { person: given.person, entries: [], isCrowd: false };
  const groups = new Map<string, Group>([["", record]]);
  for (const entry of entries.filter(({ isGiven }) => !isGiven)) {
    const { person } = entry;
    const key = person.path === "" ? "" : `${person.path}\n${person.prefix ?? ""}`;
    const group = groups.getOrInsertComputed(key, () => ({ person, entries: [], isCrowd: false }));
    group.entries.push(entry);
    if (columns[entry.at]?.several === "people") group.isCrowd = true;
  }
  return { record, others: [...groups.values()].slice(1) };
}

/**
 * Moves the values of a flat prefix (`Contact Email`) into the record, unless it has one of their fields without the prefix.
 * Returns the groups that are nobody's.
 */
function mergePrefixes(record: Group, others: Group[]): Group[] {
  const strangers: Group[] = [];
  // `Contact Name` and `contact.email` are of one contact.
  const isSame = (group: Group, other: Group) =>
    other.person.prefix === null &&
    !other.isCrowd &&
    other.person.path.toLowerCase() === group.person.path.toLowerCase();
  for (const group of flatGroups(others)) {
    const same = others.find((other) => isSame(group, other));
    if (same !== undefined) {
      same.entries.push(...group.entries);
      others.splice(others.indexOf(group), 1);
      continue;
    }
    // The city of a company does not count as a city of the record.
    const own = new Set(
      record.entries.flatMap(({ target, use }) => (use === "place of a company" ? [] : (target ?? []))),
    );
    const isApart = group.entries.some(({ target }) => target !== null && own.has(target));
    if (!isApart) record.entries.push(...group.entries);
    else if (group.person.kind === "record") strangers.push(group);
    if (!isApart || group.person.kind === "record") others.splice(others.indexOf(group), 1);
  }
  return strangers;
}

function flatGroups(groups: readonly Group[]): Group[] {
  const found = groups.filter(({ person }) => person.prefix !== null && flatPrefixes.has(person.prefix));
  return found.toSorted((a, b) => a.person.order - b.person.order);
}

/** A name alone may be that of an event, a page, or a company: it is a person's only next to what names a person. */
function removeBareNames(record: Group, others: readonly Group[], entries: readonly Entry[], isNobody: boolean) {
  const named = [...record.entries, ...entries.filter(({ isGiven }) => isGiven)].filter(isNaming);
  const isAlone =
    named.length === 0 && !isNobody && !others.some(({ isCrowd, entries }) => isCrowd || entries.some(isNaming));
  const isOfPerson = ({ around }: Entry) =>
    named.some((other) => other.around === around) ||
    (isAlone && !entries.some(({ use, around: other }) => use === "event" && other === around));
  const kept = record.entries.filter((entry) => !entry.isBareName || isOfPerson(entry));
  record.entries.splice(0, record.entries.length, ...kept);
}

/** Returns the customers; or the users of a record that has no customer, not even an empty one: they may be representatives. */
function doubtfulOf(columns: readonly Column[], groups: readonly Group[]): Group[] {
  const order = ({ person }: { readonly person: Meaning["person"] }) => person.order % 100;
  const found = groups.filter(({ person }) => person.kind === "doubtfulPerson");
  const empty = columns.flatMap(({ several, meaning, isIgnored }) =>
    several === "nobody" && !isIgnored && meaning?.person.kind === "doubtfulPerson" ? [meaning] : [],
  );
  const first = Math.min(...[...found, ...empty].map(order));
  return found.filter((group) => order(group) === first);
}

function isNaming({ target, isBareName }: Entry): boolean {
  return target !== null && namingFields.has(target) && !isBareName;
}

function byLikelihood(a: Group, b: Group): number {
  const depth = ({ person }: Group) => person.path.split(".").length;
  const first = ({ entries }: Group) => entries[0]?.at ?? 0;
  return a.person.order - b.person.order || depth(a) - depth(b) || first(a) - first(b);
}

/** Returns the object that --map or a profile makes the person. */
function chosenOf(persons: readonly Group[], record: Group): Group {
  return persons.find(({ person }) => person.order < 0) ?? record;
}

/** Returns the columns of all fields of a lead if an object is the person. */
function createCandidate(group: Group, record: Group, others: readonly Group[], mapped: readonly Entry[]): Candidate {
  const isRecord = group === record;
  const isForAll = ({ use }: Entry) => use !== "person" && (use !== "creation" || !isRecord);
  const shared = isRecord ? record.entries.filter(({ use }) => use !== "creation") : record.entries.filter(isForAll);
  // The traits of a record that is the person are a part of it.
  const traits = isRecord ? others.filter(({ person }) => person.isTraits).flatMap(({ entries }) => entries) : [];
  const own = isRecord ? traits : group.entries;
  const values = [...mapped, ...shared, ...own].filter(({ target }) => target !== null);
  const inOrder = values.toSorted((a, b) => a.rank - b.rank || a.at - b.at);
  const isOfCompany = ({ use }: Entry) => use === "place of a company";
  const of = byField(inOrder.filter((entry) => !isOfCompany(entry)));
  // Of the record itself, a whole name without a prefix does not say that it is the person.
  const naming = (isRecord ? record.entries : group.entries).flatMap(({ use, target, at, person }): Naming[] => {
    const isNaming = use === "person" && target !== null && namingFields.has(target);
    return isNaming && !(isRecord && target === "name" && person.prefix === null) ? [{ at, target }] : [];
  });
  return {
    path: group.person.path,
    title: titleOf(group),
    isCrowd: group.isCrowd,
    isTraits: group.person.isTraits,
    naming,
    of,
    ofCompany: byField(inOrder.filter(isOfCompany)),
    names: namesIn(inOrder),
  };
}

function titleOf({ person, entries }: Group): string {
  const prefixes = new Set(entries.filter(isNaming).map(({ person: own }) => own.prefix));
  const [prefix = null] = prefixes;
  return person.path || (prefixes.size === 1 ? prefix : null) || "the record itself";
}

function byField(entries: readonly Entry[]): ByField {
  const of: { [Field in Target]?: number[] } = {};
  for (const { target, at } of entries) if (target !== null) (of[target] ??= []).push(at);
  return of;
}

/** Returns the columns of names: each whole name, and all halves together at the rank of the preferred one. */
function namesIn(inOrder: readonly Entry[]): Candidate["names"] {
  const names: (readonly number[])[][] = [];
  let hasHalves = false;
  for (const { target, at } of inOrder) {
    if (target === "name") names.push([[at]]);
    if ((target !== "first_name" && target !== "last_name") || hasHalves) continue;
    hasHalves = true;
    names.push([placesOf(inOrder, "first_name"), placesOf(inOrder, "last_name")]);
  }
  return names;
}

function placesOf(entries: readonly Entry[], wanted: Target): number[] {
  return entries.flatMap(({ target, at }) => (target === wanted ? at : []));
}
