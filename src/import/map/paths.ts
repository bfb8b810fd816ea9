/** The meaning of a path, from the record to a value: the field that it gives, and the object that it belongs to. */
import {
  bareNames,
  creationNames,
  eventNames,
  nameParts,
  namingFields,
  type ObjectKind,
  placeFields,
  type Target,
  valueNames,
  visitFields,
} from "./fields.ts";
import { type Alias, aliasByKey, find, kindByKey, normalizeName, withoutZone, wordsOf } from "./names.ts";

/** An object that may be the person: the record itself, or an object in it. */
export interface Person {
  /** The path of the object as it was sent; empty for the record itself. */
  readonly path: string;
  /** The record itself, an object of a person, or one that is often a representative. */
  readonly kind: "record" | "person" | "doubtfulPerson";
  /** The position in the order of likelihood among objects of its kind. */
  readonly order: number;
  /** The prefix of flat names such as `visitor_email`; null for an object. */
  readonly prefix: string | null;
  /** True of the traits of the record, which are a part of the record if that is the person. */
  readonly isTraits: boolean;
}

/** The use of a value: for the person, the company, the visit, the ID, or only as a sign of something else. */
export type Use =
  | "person"
  | "company"
  | "place of a company"
  | "visit"
  | "creation"
  | "id"
  | "time zone"
  | "event"
  | "own name of a place";

/** The meaning of a path in a record. */
export interface Meaning {
  /** Null for a value that is no field, but says that the object is there. */
  readonly use: Use | null;
  readonly target: Target | null;
  readonly person: Person;
  /** Of several values for one field, the lowest rank is preferred: the shortest path, then the order of the table. */
  readonly rank: number;
  /** The zone of a time, if the name has one: `Visited At (PT)`. */
  readonly zone: string | null;
  /** The path of the object in which the value was sent. */
  readonly around: string;
  /** The path of the place that it belongs to; null if it belongs to none. */
  readonly place: string | null;
  /** True of `name`, which may also be the name of an event, a page, or a company. */
  readonly isBareName: boolean;
}

/** A name of a path, as it was sent and as it is compared. */
interface Segment {
  readonly title: string;
  readonly key: string;
}

/** More names than the table has. */
const perLevel = 10_000;

/** A step on the way from the record to a value. */
interface Step {
  readonly person: Person;
  readonly inside: "person" | "part" | "professional" | "company" | "place" | "place of a company" | "visit" | "field";
  /** The name of the innermost object of a visit. */
  readonly visit: string;
  readonly place: string | null;
  /** The meaning of an object that is named after a field. */
  readonly field: Meaning | null;
  readonly depth: number;
  readonly path: string;
}

const recordItself: Person = { path: "", kind: "record", order: 0, prefix: null, isTraits: false };
const start: Step = {
  person: recordItself,
  inside: "person",
  visit: "",
  place: null,
  field: null,
  depth: 0,
  path: "",
};

/** Returns the meaning of a path, whose names are split; null if it belongs to an object that holds no fields. */
export function meaningOfPath(names: readonly string[]): Meaning | null {
  return meaningFrom(start, names);
}

/** Returns the meaning of a path in an object that --map or a profile makes the person. */
export function meaningInPerson(names: readonly string[], length: number): Meaning | null {
  const path = names.slice(0, length).join(".");
  const person: Person = { ...recordItself, path, kind: "person", order: -1 };
  return meaningFrom(
    { ...start, person: length === 0 ? recordItself : person, depth: length, path },
    names.slice(length),
  );
}

function meaningFrom(begin: Step, names: readonly string[]): Meaning | null {
  const segments = names.map((title): Segment => ({ title, key: normalizeName(title) }));
  const last = segments.pop();
  if (last === undefined) return null;
  let step: Step | null = begin;
  for (const segment of segments) {
    step = enter(step, segment);
    if (step === null) return null;
  }
  return valueIn(step, last);
}

/** Objects of a visit that may hold its visitor. */
const holdsPerson: ReadonlySet<string> = new Set(["visit", "pagevisit", "session", "event"]);
/** Objects in which a person's own visits are. */
const isVisitOfPerson: ReadonlySet<string> = new Set(["visit", "pagevisit", "session", "pageview"]);

/** Enters an object; null if it holds no fields there. */
function enter(step: Step, segment: Segment): Step | null {
  const known = find(kindByKey, segment.key);
  const path = step.path === "" ? segment.title : `${step.path}.${segment.title}`;
  const next = { ...step, path, depth: step.depth + 1 };
  if (known?.kind === "wrapper" && step.inside !== "field") return next;
  const entered = known === undefined ? null : entries[known.kind](step, next, known.key, known.order);
  if (entered !== null || step.inside === "field") return entered;
  if (known !== undefined && known.kind !== "place") return null;
  const field = valueIn(step, segment);
  return field?.target == null ? null : { ...next, inside: "field", field };
}

type Enter = (step: Step, next: Step, key: string, order: number) => Step | null;

const isInPerson = ({ inside }: Step): boolean => inside === "person" || inside === "part";
const isInCompany = ({ inside }: Step): boolean => inside === "company" || inside === "place of a company";

/** The objects that can be entered, by their kind. */
const entries: Readonly<Record<ObjectKind, Enter>> = {
  wrapper: () => null,
  person(step, next, key, order) {
    const isTraits = key === "traits";
    // The traits of a person are a part of it.
    if (isTraits && isInPerson(step) && step.person.kind !== "record") return next;
    const isInVisit =
      step.inside === "visit" && (holdsPerson.has(step.visit) || (isTraits && step.visit === "context"));
    if (!isInPerson(step) && !isInVisit) return null;
    return enterPerson(step, next, "person", order, isTraits && !isInVisit);
  },
  doubtfulPerson(step, next, _, order) {
    const isInVisit = step.inside === "visit" && holdsPerson.has(step.visit);
    return isInPerson(step) || isInVisit ? enterPerson(step, next, "doubtfulPerson", order, false) : null;
  },
  part: (step, next, key) =>
    isInPerson(step) ? { ...next, inside: key === "professional" ? "professional" : "part" } : null,
  company: (step, next) =>
    isInPerson(step) || step.inside === "professional" || step.inside === "company"
      ? { ...next, inside: "company" }
      : null,
  place(step, next) {
    if (isInCompany(step)) return { ...next, inside: "place of a company" };
    return isInPerson(step) || step.inside === "place" ? { ...next, inside: "place", place: next.path } : null;
  },
  visit(step, next, key) {
    const isOfPerson = step.person.kind !== "record" && isInPerson(step) && isVisitOfPerson.has(key);
    const isOfRecord = step.person.kind === "record" && step.inside === "person";
    return isOfPerson || isOfRecord || step.inside === "visit" ? { ...next, inside: "visit", visit: key } : null;
  },
};

function enterPerson(
  { person, inside }: Step,
  next: Step,
  kind: Person["kind"],
  order: number,
  isTraits: boolean,
): Step {
  // An object within another one is less likely than any that is not.
  const around = person.kind === "record" ? (inside === "visit" ? 1 : 0) : Math.floor(person.order / 100) + 1;
  const isDoubtful = kind === "doubtfulPerson" || person.kind === "doubtfulPerson";
  return {
    ...next,
    inside: "person",
    person: {
      path: next.path,
      kind: isDoubtful ? "doubtfulPerson" : "person",
      order: around * 100 + order,
      prefix: null,
      isTraits: isTraits && person.kind === "record",
    },
  };
}

/** Returns the meaning of a value in an object; with a use of null if it is no field there. */
function valueIn(step: Step, segment: Segment): Meaning {
  if (step.field !== null) return valueOfField(step, step.field, segment.key);
  const { rest, zone } = withoutZone(segment.title);
  const zoned = zone === null ? null : named(step, { title: rest, key: normalizeName(rest) });
  if (zoned?.target === "identified_at") {
    return { ...zoned, zone, rank: zoned.rank - (zone === "UTC" ? 0.5 : 0) };
  }
  const held = segment.key === "value" ? heldBy(step) : undefined;
  if (held !== undefined) return field(step, held);
  return named(step, segment) ?? sign(step, signOf(step, segment.key));
}

/** Returns the field of an object that is also named after one: `company: { value }`. */
function heldBy({ inside, visit }: Step): Alias | undefined {
  if (inside === "company") return aliasByKey.get("companyname");
  return inside === "visit" && visit === "page" ? aliasByKey.get("pageurl") : undefined;
}

function signOf({ inside }: Step, key: string): Use | null {
  if (inside === "place" && (key === "name" || key === "id")) return "own name of a place";
  return inside === "person" && eventNames.has(key) ? "event" : null;
}

function sign({ person, path, depth, place }: Step, use: Use | null): Meaning {
  return { use, target: null, person, rank: depth * perLevel, zone: null, around: path, place, isBareName: false };
}

/** Looks a name up as a whole, or as a parent that is directly followed by a field. Null if it is neither. */
function named(step: Step, { title, key }: Segment): Meaning | null {
  const alias = find(aliasByKey, key);
  if (alias !== undefined) return field(step, alias);
  const words = wordsOf(title);
  for (let split = 1; split < Math.min(words.length, 4); split++) {
    const prefix = words.slice(0, split).join("");
    const kind = find(kindByKey, prefix)?.kind;
    const inner = words.slice(split).join("");
    const isOfPlace = kind === "place" && (inner === "name" || inner === "id");
    const own = isOfPlace ? undefined : find(aliasByKey, inner);
    if (kind !== undefined && (own !== undefined || isOfPlace)) return flatField(step, prefix, kind, inner, own);
  }
  return null;
}

/** Returns the meaning of a flat name: a prefix that is an object, and what it holds. It was sent in the object around it. */
function flatField(step: Step, prefix: string, kind: ObjectKind, inner: string, alias: Alias | undefined): Meaning {
  const isOfPerson = kind === "person" || kind === "doubtfulPerson" || prefix === "lead";
  const entered = kind === "wrapper" && !isOfPerson ? null : enter(step, { title: prefix, key: prefix });
  if (entered === null || alias?.target === "id") return sign(step, null);
  const meaning = alias === undefined ? sign(entered, signOf(entered, inner)) : field(entered, alias);
  const { path: around, person } = step;
  if (!isOfPerson) return { ...meaning, around };
  const path = prefix === "lead" ? [around, "lead"].filter((name) => name !== "").join(".") : meaning.person.path;
  const isInRecord = person.kind === "record";
  return {
    ...meaning,
    around,
    person: { ...meaning.person, path, prefix: isInRecord ? prefix : null, isTraits: false },
  };
}

/** Returns the meaning of a name of the table in an object; its use is null if the object does not hold such a field. */
function field(step: Step, alias: Alias): Meaning {
  const { inside, person, depth } = step;
  const { target, order, key } = alias;
  const found = inside === "company" ? companyField(alias) : useOf(step, target, key);
  if (found === null) return sign(step, signOf(step, key));
  const isCompany = found === "company";
  return {
    ...sign(step, found),
    target: isCompany ? "company" : target,
    rank: (depth + 1) * perLevel + order,
    isBareName: found === "person" && key === "name" && person.kind === "record",
  };
}

function companyField({ target, key }: Alias): Use | null {
  if (placeFields.has(target)) return "place of a company";
  // company.business is its industry, not its name.
  return (target === "name" && key === "name") || (target === "company" && key.endsWith("name")) ? "company" : null;
}

function useOf(step: Step, target: Target, key: string): Use | null {
  if (placeFields.has(target)) {
    if (step.inside === "place of a company") return step.inside;
    return isInPerson(step) || step.inside === "place" ? "person" : null;
  }
  if (step.inside === "place" || step.inside === "place of a company") return null;
  if (target === "id" || target === "time_zone") return useInRecord(step, target);
  if (visitFields.has(target)) return useInVisit(step, key);
  if (step.inside === "visit") return null;
  return target === "company" ? "company" : "person";
}

function useInRecord({ inside, person, visit }: Step, target: "id" | "time_zone"): Use | null {
  if (person.kind !== "record") return null;
  if (target === "time_zone") return inside === "person" ? "time zone" : null;
  return inside === "person" || (inside === "visit" && visit === "event") ? "id" : null;
}

function useInVisit({ inside, person }: Step, key: string): Use | null {
  if (inside === "visit") return "visit";
  if (person.kind !== "record" || inside !== "person") return bareNames.has(key) ? null : "visit";
  return creationNames.has(key) ? "creation" : "visit";
}

/** Returns the meaning of a value in an object that is named after a field. */
function valueOfField(step: Step, outer: Meaning, key: string): Meaning {
  const { target } = outer;
  if (target === null) return sign(step, null);
  const order = ["value", ...(valueNames[target] ?? [])].indexOf(key);
  if (order !== -1) return { ...outer, rank: outer.rank + order / 100 };
  const part = target === "name" ? (nameParts.get(key) ?? find(aliasByKey, key)?.target) : undefined;
  if (part === "first_name" || part === "last_name" || part === "name")
    return { ...outer, target: part, isBareName: false };
  const alias = find(aliasByKey, key);
  if (alias?.target !== target) return sign(step, null);
  return { ...outer, rank: outer.rank + alias.order / perLevel };
}

/**
 * Returns the field that a value in an unknown object would be if that object were the person, and the number of names in the
 * path to the object; null if the field names nobody.
 */
export function strangeField(names: readonly string[]): { readonly target: Target; readonly length: number } | null {
  // A field may be an object too: `found.emails.value`.
  for (const length of [names.length - 1, names.length - 2].filter((length) => length > 0)) {
    const target = meaningInPerson(names.slice(length), 0)?.target ?? null;
    if (target !== null && namingFields.has(target)) return { target, length };
  }
  return null;
}
