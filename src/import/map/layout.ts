/**
 * The layout of a record: by its names, it is decided who may be the person, and which columns hold the fields of a lead if
 * they are. Who is the person is decided by values (lead.ts).
 */
import type { Column } from "./column.ts";
import { flatPrefixes, namingFields, personFields, type Target } from "./fields.ts";
import { fieldNamed, isRepresentative, kindOf, normalizeName, wordsOf } from "./names.ts";
import { type Meaning, meaningIn, recordItself } from "./paths.ts";
import { type Profile, pathKey, profileOf, type VendorChoice } from "./profiles.ts";

/** The columns of one record. Records with the same names in the same order share a layout. */
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
}

/** An object that may be the person, and the columns of all fields of the lead if it is. */
export interface Candidate {
  /** The path of the object; empty for the record itself. */
  readonly path: string;
  /** The path of the object, or the prefix of the flat names that name the person in the record. */
  readonly title: string;
  /** True of a list of several people, which names nobody. */
  readonly isCrowd: boolean;
  /** The columns of the values that name the person. */
  readonly naming: readonly { readonly at: number; readonly target: Target }[];
  /** True for the traits of the record, which are a part of the record if it is the person. */
  readonly isTraits: boolean;
  readonly of: ByField;
  /** The location of a company, which counts only in a record that names no person. */
  readonly ofCompany: ByField;
  /** The columns of names, the preferred first: of a whole name, or of a first and of a last name. */
  readonly names: readonly (readonly (readonly number[])[])[];
}

/** The column indexes of each field, in order of preference. Fields without a column are omitted. */
export type ByField = { readonly [Field in Target]?: readonly number[] };

/** A value of a record with its meaning. */
interface Entry extends Meaning {
  readonly at: number;
  /** True if --map or a profile makes it a field. Then it does not depend on which object is the person. */
  readonly isGiven: boolean;
}

/** An object that may be the person, with the values in it. */
interface Group {
  readonly person: Meaning["person"];
  readonly entries: Entry[];
  isCrowd: boolean;
  /** True if the object is present, but has no values. */
  isEmpty: boolean;
}

/** Returns the layout of a record with some columns. */
export function createLayout(columns: readonly Column[], vendor: VendorChoice): Layout {
  const profile = profileOf(vendor, columns);
  const entries = entriesOf(columns, profile);
  const mapped = entries.filter(({ isGiven }) => isGiven);
  const { record, others } = groupsOf(columns, entries);
  const groups = mergePrefixes(record, others);
  const ofKind = (kind: Group["person"]["kind"]) =>
    groups.filter(({ person, entries }) => person.kind === kind && entries.length > 0).toSorted(byLikelihood);
  const [persons, customersAndUsers, strangers] = [ofKind("person"), ofKind("doubtfulPerson"), ofKind("record")];
  // If the object of the visitor is empty, nobody was identified, and a `user` is not read as the visitor.
  const isNobody = groups.some(({ isEmpty, person }) => isEmpty && person.kind === "person");
  const customer = Math.min(...groups.filter(({ person }) => person.kind === "doubtfulPerson").map(orderInObject));
  // The users of a record with a customer, even an empty one, are not read: they may be representatives.
  const doubtful = customersAndUsers.filter((group) => orderInObject(group) === customer);
  const namesOther = columns.some(namesStranger);
  removeBareNames(record, [...persons, ...customersAndUsers], entries, isNobody || namesOther);
  const isNamed = [...record.entries, ...mapped].some(isNaming);
  const chosen = persons.find(({ person }) => person.order < 0) ?? (profile?.person === undefined ? null : record);
  const candidateOf = (group: Group) => createCandidate(group, record, groups, mapped);
  const asRecord = candidateOf(record);
  const asPersons = persons.map(candidateOf);
  const asDoubtful = doubtful.map(candidateOf);
  const mayBeDoubtful = !isNamed && persons.length === 0 && !isNobody && !columns.some(isOfOtherPerson);
  const has = (sign: Column["sign"]) => columns.some((column) => column.sign === sign && !column.isIgnored);
  return {
    columns,
    profile,
    candidates:
      chosen !== null
        ? [candidateOf(chosen)]
        : [...(isNamed ? [asRecord] : []), ...asPersons, ...(mayBeDoubtful ? asDoubtful : [])],
    fallback: chosen !== null ? candidateOf(chosen) : (asPersons.find(({ isCrowd }) => !isCrowd) ?? asRecord),
    people:
      chosen !== null
        ? []
        : [asRecord, ...asPersons, ...asDoubtful, ...strangers.map(candidateOf)].filter(
            ({ naming, isCrowd }) => naming.length > 0 || isCrowd,
          ),
    hasSeveralPeople: has("people") || persons.some(({ isCrowd }) => isCrowd),
    hasSeveralVisits: has("visits"),
  };
}

/** Returns the values that have a meaning in a record, in the order of their columns. */
function entriesOf(columns: readonly Column[], profile: Profile | null): readonly Entry[] {
  const entries = columns.flatMap((column, at) => entryOf(column, at, profile) ?? []);
  // A place with its own name or ID, such as a shop, is not that of the visitor.
  const named = entries.flatMap(({ use, place }) => (use === "own name of a place" ? (place ?? "") : []));
  const isOfNamed = ({ place }: Entry) =>
    named.some((name) => place === name || place?.startsWith(`${name}.`) === true);
  const numbers = numbersOfPeople(columns);
  const isOfOther = ({ at, isGiven }: Entry) => !isGiven && numbers.has(numberOf(columns[at]));
  return withFamilyNames(entries, columns).filter((entry) => !isOfNamed(entry) && !isOfOther(entry));
}

/** Returns the numbers of people in the columns of one record: if `First Name 2` is another person, so is `Email 2`. */
function numbersOfPeople(columns: readonly Column[]): ReadonlySet<string> {
  const named = columns.flatMap((column) => {
    const [, name = "", number] = ofNumber.exec(column.names.at(-1) ?? "") ?? [];
    const field = number === undefined ? null : fieldNamed(name);
    return field !== null && number !== undefined && wholeName.includes(field) ? number : [];
  });
  // `First Name 1` alone is the visitor's.
  return new Set(named.some((number) => Number(number) > 1) ? named : []);
}

function numberOf(column: Column | undefined): string {
  return ofNumber.exec(column?.names.at(-1) ?? "")?.[2] ?? "";
}

/** A name with a number at its end. */
const ofNumber = /^(.*\D)(\d{1,2})\s*$/;

/** More parts than a command line can have. The values of --map have lower ranks than all others. */
const maxMapped = 1_000_000;
const ownKeys: ReadonlySet<string> = new Set(["identifiedat", "pixelid"]);
const wholeName: readonly Target[] = ["name", "first_name", "last_name"];

/** Returns the entry of a column: by --map, else by the profile, else by the table. Null if its values are not kept. */
function entryOf(column: Column, at: number, profile: Profile | null): Entry | null {
  const { mapped, key, isIgnored, zone, sign } = column;
  if (isIgnored || sign === "nobody" || sign === "suggested") return null;
  const given = ({ target }: { readonly target: Target }, rank: number): Entry => ({
    ...{ use: "person", target, person: recordItself, rank, zone, around: "", place: null, isBareName: false },
    ...{ at, isGiven: true },
  });
  if (mapped != null) return sign === null ? given(mapped, mapped.order - 2 * maxMapped) : null;
  // `identified_at` and `pixel_id` of the record take precedence over every profile, but not over --map.
  const isOwn = ownKeys.has(key);
  const own = sign === null && !isOwn ? profile?.fields.get(key) : undefined;
  if (own !== undefined) return given(own, own.order - maxMapped);
  const meaning = meaningFor(column, profile);
  if (meaning === null || (profile !== null && !isOwn && isDecidedBy(profile, meaning.target))) return null;
  const rank = isOwn && profile !== null ? meaning.rank - 1.5 * maxMapped : meaning.rank;
  return { ...meaning, isGiven: false, at, rank };
}

/** Returns the meaning of a column in a record of a profile. The profile may name the object of the person. */
function meaningFor({ names, meaning }: Column, profile: Profile | null): Meaning | null {
  const person = profile?.person ?? "";
  if (person === "" || (meaning !== null && meaning.person.order < 0)) return meaning;
  const length = names.findIndex((_, index) => pathKey(names.slice(0, index + 1)) === person) + 1;
  return length === 0 || length === names.length ? meaning : meaningIn(names, length);
}

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

/** Groups values by the object of their person. Values that --map or a profile gives belong to every candidate. */
function groupsOf(columns: readonly Column[], entries: readonly Entry[]): { record: Group; others: Group[] } {
  const groups = new Map<string, Group>();
  const groupOf = (person: Group["person"]) =>
    groups.getOrInsertComputed(person.path === "" ? "" : `${person.path}\n${person.prefix ?? ""}`, () => {
      return { person, entries: [], isCrowd: false, isEmpty: false };
    });
  const record = groupOf(recordItself);
  for (const entry of entries.filter(({ isGiven }) => !isGiven)) {
    const group = groupOf(entry.person);
    group.entries.push(entry);
    if (columns[entry.at]?.sign === "people" && group !== record) group.isCrowd = true;
  }
  for (const { sign, meaning, isIgnored } of columns) {
    if (sign === "nobody" && meaning !== null && !isIgnored) groupOf(meaning.person).isEmpty = true;
  }
  const hasCompany = record.entries.some(({ use }) => use === "company" || use === "place of a company");
  const suggested = hasCompany ? columns.flatMap((column, at) => suggestionOf(column, at) ?? []) : [];
  for (const entry of suggested) {
    const group = groupOf(entry.person);
    group.isCrowd = true;
    group.entries.splice(0, group.entries.length, entry);
  }
  const isOfSuggested = ({ person }: Group) => suggested.some((one) => person.path.startsWith(`${one.person.path}.`));
  return { record, others: [...groups.values()].slice(1).filter((group) => !isOfSuggested(group)) };
}

/** Returns the marker of a list of contacts that are suggested for the company of the record. None of them is the visitor. */
function suggestionOf({ sign, meaning, isIgnored }: Column, at: number): Entry | null {
  const isSuggested = sign === "suggested" && meaning !== null && !isIgnored && meaning.person.kind === "person";
  return isSuggested ? { ...meaning, isGiven: false, at } : null;
}

/**
 * Adds the values of a flat prefix (`Contact Email`) to the object of that name, or else to the record unless the record has
 * one of these fields without the prefix. Returns the remaining groups.
 */
function mergePrefixes(record: Group, others: readonly Group[]): readonly Group[] {
  const flat = others.filter(({ person }) => person.prefix !== null && flatPrefixes.has(person.prefix));
  const merged = new Set<Group>();
  for (const group of flat.toSorted((a, b) => a.person.order - b.person.order)) {
    const path = group.person.path.toLowerCase();
    const same = others.find(
      ({ person, isCrowd, entries }) =>
        person.prefix === null && !isCrowd && entries.length > 0 && person.path.toLowerCase() === path,
    );
    // The city of a company does not count as a city of the record.
    const own = new Set(record.entries.flatMap(({ target, use }) => (use === "place of a company" ? [] : target)));
    const isApart = group.entries.some(({ target }) => target !== null && own.has(target));
    const object = same ?? (isApart ? null : record);
    if (object === null) continue;
    object.entries.push(...group.entries);
    merged.add(group);
  }
  return others.filter((group) => !merged.has(group));
}

/**
 * Removes names that may not be a person's. A name alone may be that of an event, a page, or a company; it is a person's only
 * next to another field that names a person.
 */
function removeBareNames(record: Group, people: readonly Group[], entries: readonly Entry[], isNobody: boolean) {
  const named = [...record.entries, ...entries.filter(({ isGiven }) => isGiven)].filter(isNaming);
  const isAlone =
    named.length === 0 && !isNobody && !people.some(({ isCrowd, entries }) => isCrowd || entries.some(isNaming));
  const isOfPerson = ({ around }: Entry) =>
    named.some((other) => other.around === around) ||
    (isAlone && !entries.some(({ use, around: other }) => use === "event" && other === around));
  const kept = record.entries.filter((entry) => !entry.isBareName || isOfPerson(entry));
  record.entries.splice(0, record.entries.length, ...kept);
}

/** Returns whether a value in an unknown object would identify somebody by more than a name: plans and forms also have names. */
function namesStranger({ strange }: Column): boolean {
  return strange !== null && strange.target !== "name" && !strange.around.some(isRepresentative);
}

/** Returns whether the visitor may be in an unknown object (`match.individual.email`), or in a list that is not read. */
function isOfOtherPerson({ strange, sign, meaning }: Column): boolean {
  if (sign === "people" && meaning?.person.kind === "record") return true;
  if (strange === null || strange.around.some(isRepresentative)) return false;
  return strange.around.flatMap(wordsOf).some((word) => word === "lead" || kindOf(word) === "person");
}

function isNaming({ target, isBareName }: Entry): boolean {
  return target !== null && namingFields.has(target) && !isBareName;
}

function orderInObject({ person }: Group): number {
  return person.order % 100;
}

function byLikelihood(a: Group, b: Group): number {
  const depth = ({ person }: Group) => person.path.split(".").length;
  const first = ({ entries }: Group) => entries[0]?.at ?? 0;
  return a.person.order - b.person.order || depth(a) - depth(b) || first(a) - first(b);
}

/** Returns the columns of all fields of a lead if an object is the person. */
function createCandidate(group: Group, record: Group, groups: readonly Group[], mapped: readonly Entry[]): Candidate {
  const isRecord = group === record;
  // The creation time of the record is the time of the visit only if the person is another object.
  const shared = record.entries.filter(({ use }) => (isRecord ? use !== "creation" : use !== "person"));
  // The traits of a record that is the person are a part of it.
  const traits = isRecord ? groups.filter(({ person }) => person.isTraits).flatMap(({ entries }) => entries) : [];
  const values = [...mapped, ...shared, ...(isRecord ? traits : group.entries)];
  const inOrder = values.filter(({ target }) => target !== null).toSorted((a, b) => a.rank - b.rank || a.at - b.at);
  const isOfCompany = ({ use }: Entry) => use === "place of a company";
  // A full name without a prefix is not enough to make the record itself the person.
  const naming = group.entries.flatMap(({ use, target, at, person }) => {
    const isNaming = use === "person" && target !== null && namingFields.has(target);
    return isNaming && !(isRecord && target === "name" && person.prefix === null) ? [{ at, target }] : [];
  });
  return {
    path: group.person.path,
    title: titleOf(group),
    isCrowd: group.isCrowd,
    isTraits: group.person.isTraits,
    naming,
    of: byField(inOrder.filter((entry) => !isOfCompany(entry))),
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

/** Returns the columns of names: each full name, and all first and last names together at the rank of the preferred one. */
function namesIn(inOrder: readonly Entry[]): Candidate["names"] {
  const { first_name: first = [], last_name: last = [] } = byField(inOrder);
  const isHalf = ({ target }: Entry) => target === "first_name" || target === "last_name";
  const preferred = inOrder.find(isHalf);
  return inOrder.flatMap((entry) => {
    if (entry.target === "name") return [[[entry.at]]];
    return entry === preferred ? [[first, last]] : [];
  });
}
