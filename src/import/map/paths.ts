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
import { type Alias, aliasByKey, find, type Kind, kindByKey, normalizeName, withoutZone, wordsOf } from "./names.ts";

/** An object that may be the person: the record itself, or an object in it. */
export interface Person {
  /** The path of the object as it was sent; empty for the record itself. */
  readonly path: string;
  /** The record itself, an object of a person, or one that is often a representative. */
  readonly kind: "record" | "person" | "doubtfulPerson";
  /** The position in the order of likelihood among objects of its kind; negative if --map or a profile chose it. */
  readonly order: number;
  /** The prefix of flat names such as `visitor_email`; null for an object. */
  readonly prefix: string | null;
  /** True of the traits of the record, which are a part of the record if that is the person. */
  readonly isTraits: boolean;
}

export const recordItself: Person = { path: "", kind: "record", order: 0, prefix: null, isTraits: false };

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

/** More names than the table has. */
const perLevel = 10_000;

type Inside = "person" | "part" | "professional" | "company" | "place" | "place of a company" | "visit" | "field";

/** An object on the path from the record to a value. */
interface Step {
  readonly person: Person;
  readonly inside: Inside;
  /** The name of the innermost object of a visit. */
  readonly visit: string;
  readonly place: string | null;
  /** The meaning of an object that is named after a field. */
  readonly field: Meaning | null;
  readonly depth: number;
  readonly path: string;
}

/** The record itself. */
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
export function meaningOf(names: readonly string[]): Meaning | null {
  return meaningFrom(start, names);
}

/** Returns the meaning of a path in an object that --map or a profile makes the person. */
export function meaningIn(names: readonly string[], length: number): Meaning | null {
  const path = names.slice(0, length).join(".");
  const person: Person = { ...recordItself, path, kind: "person", order: -1 };
  return meaningFrom({ ...start, person, depth: length, path }, names.slice(length));
}

function meaningFrom(begin: Step, names: readonly string[]): Meaning | null {
  let step: Step | null = begin;
  for (const name of names.slice(0, -1)) {
    step = enter(step, name);
    if (step === null) return null;
  }
  return names.length === 0 ? null : valueIn(step, names.at(-1) ?? "");
}

/** A field that a value in an unknown object would be if that object were the person. */
export interface StrangeField {
  readonly target: Target;
  /** The path of the object. */
  readonly around: readonly string[];
}

/** Returns the field that a value in an unknown object would be if that object were the person; null if it would name nobody. */
export function strangeField(names: readonly string[]): StrangeField | null {
  // A field may be an object itself: `found.emails.value`.
  for (const length of [names.length - 1, names.length - 2].filter((length) => length > 0)) {
    const target = meaningOf(names.slice(length))?.target ?? null;
    if (target !== null && namingFields.has(target)) return { target, around: names.slice(0, length) };
  }
  return null;
}

/** The kinds of objects that are read in each kind of object. Anywhere else, an object holds no fields. */
const objectsIn: Readonly<Record<Inside, { readonly [Kind in ObjectKind]?: Inside }>> = (() => {
  const ofPerson = { person: "person", doubtfulPerson: "person", visit: "visit" } as const;
  const all = { ...ofPerson, part: "part", company: "company", place: "place" } as const;
  return {
    person: all,
    part: all,
    professional: { company: "company" },
    company: { company: "company", place: "place of a company" },
    place: { place: "place" },
    "place of a company": { place: "place of a company" },
    visit: ofPerson,
    field: {},
  };
})();

/** Objects of a visit that may hold its visitor. */
const holdsPerson: ReadonlySet<string> = new Set(["visit", "pagevisit", "session", "event"]);
/** Objects in which a person's own visits are. */
const isVisitOfPerson: ReadonlySet<string> = new Set(["visit", "pagevisit", "session", "pageview"]);

/** Returns the step into an object; null if the object holds no fields there. */
function enter(step: Step, title: string): Step | null {
  const key = normalizeName(title);
  const known = find(kindByKey, key);
  const path = joinPath(step.path, title);
  const next = { ...step, path, depth: step.depth + 1 };
  if (known === undefined) {
    const field = step.inside === "field" ? null : valueIn(step, title);
    return field?.target == null ? null : { ...next, inside: "field", field };
  }
  if (known.kind === "wrapper") return step.inside === "field" ? null : next;
  const inside = objectsIn[step.inside][known.kind];
  if (inside === undefined) return null;
  if (inside === "visit") return isVisitIn(step, known.key) ? { ...next, inside, visit: known.key } : null;
  if (inside === "person") return enterPerson(step, next, known);
  if (inside === "place") return { ...next, inside, place: path };
  return { ...next, inside: known.key === "professional" ? "professional" : inside };
}

const joinPath = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function isVisitIn({ person, inside }: Step, key: string): boolean {
  if (inside === "visit") return true;
  return person.kind === "record" ? inside === "person" : isVisitOfPerson.has(key);
}

function enterPerson({ person, inside, visit }: Step, next: Step, { kind, key, order }: Kind): Step | null {
  const isOfRecord = person.kind === "record";
  const isInVisit = inside === "visit";
  const isTraits = key === "traits";
  // The traits of a person are a part of it.
  if (isTraits && !isInVisit && !isOfRecord) return next;
  if (isInVisit && !holdsPerson.has(visit) && !(isTraits && visit === "context")) return null;
  // A nested object is less likely to be the person than any object that is not nested.
  const around = isOfRecord ? Number(isInVisit) : Math.floor(person.order / 100) + 1;
  const isDoubtful = kind === "doubtfulPerson" || person.kind === "doubtfulPerson";
  return {
    ...next,
    inside: "person",
    person: {
      path: next.path,
      kind: isDoubtful ? "doubtfulPerson" : "person",
      order: around * 100 + order,
      prefix: null,
      isTraits: isTraits && isOfRecord && !isInVisit,
    },
  };
}

/** Returns the meaning of a value in an object; its use is null if it is not a field there. */
function valueIn(step: Step, title: string): Meaning {
  const key = normalizeName(title);
  if (step.field !== null) return valueOfField(step, step.field, key);
  const { rest, zone } = withoutZone(title);
  const zoned = zone === null ? null : named(step, rest);
  if (zoned?.target === "identified_at") {
    return { ...zoned, zone, rank: zoned.rank - (zone === "UTC" ? 0.5 : 0) };
  }
  const held = key === "value" ? heldBy(step) : undefined;
  if (held !== undefined) return field(step, held);
  return named(step, title) ?? sign(step, signOf(step, key));
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

/** Looks a name up as a whole, or as an object that is directly followed by a field. Returns null if it is neither. */
function named(step: Step, title: string): Meaning | null {
  const alias = find(aliasByKey, normalizeName(title));
  if (alias !== undefined) return field(step, alias);
  const words = wordsOf(title);
  for (let split = 1; split < Math.min(words.length, 4); split++) {
    const prefix = words.slice(0, split).join("");
    const kind = find(kindByKey, prefix)?.kind;
    if (kind === undefined) continue;
    const inner = words.slice(split).join("");
    const isOfPlace = kind === "place" && (inner === "name" || inner === "id");
    const own = isOfPlace ? undefined : find(aliasByKey, inner);
    if (own !== undefined || isOfPlace) return flatField(step, prefix, kind, own ?? inner);
  }
  return null;
}

/** Returns the meaning of a flat name such as `visitor_email`: an object as a prefix, followed by one of its fields. */
function flatField(step: Step, prefix: string, kind: ObjectKind, inner: Alias | string): Meaning {
  // `lead` is the only wrapper that can be a prefix.
  const isOfPerson = kind === "person" || kind === "doubtfulPerson" || prefix === "lead";
  const entered = kind === "wrapper" && !isOfPerson ? null : enter(step, prefix);
  const isText = typeof inner === "string";
  if (entered === null || (!isText && inner.target === "id")) return sign(step, null);
  const { path: around } = step;
  const meaning = { ...(isText ? sign(entered, signOf(entered, inner)) : field(entered, inner)), around };
  if (!isOfPerson) return meaning;
  const path = prefix === "lead" ? joinPath(around, prefix) : meaning.person.path;
  const isInRecord = step.person.kind === "record";
  return { ...meaning, person: { ...meaning.person, path, prefix: isInRecord ? prefix : null, isTraits: false } };
}

/** Returns the meaning of a name of the table in an object; its use is null if the object does not hold such a field. */
function field(step: Step, alias: Alias): Meaning {
  const { target, order, key } = alias;
  const use = useOf(step, alias);
  if (use === null) return sign(step, signOf(step, key));
  return {
    ...sign(step, use),
    target: use === "company" ? "company" : target,
    rank: (step.depth + 1) * perLevel + order,
    isBareName: use === "person" && key === "name" && step.person.kind === "record",
  };
}

/** The use of a city, a state, or a country in each object; none in the others. */
const useOfPlace: { readonly [Where in Inside]?: Use } = {
  person: "person",
  part: "person",
  place: "person",
  company: "place of a company",
  "place of a company": "place of a company",
};

function useOf(step: Step, alias: Alias): Use | null {
  const { target, key } = alias;
  if (placeFields.has(target)) return useOfPlace[step.inside] ?? null;
  // `company.business` is the industry of the company, not its name.
  const isNameOfCompany = key === "name" || (target === "company" && key.endsWith("name"));
  if (step.inside === "company") return isNameOfCompany ? "company" : null;
  if (step.inside === "visit") return useInVisit(step, target);
  return step.inside === "place" || step.inside === "place of a company" ? null : useInPerson(step, alias);
}

function useInVisit({ person, visit }: Step, target: Target): Use | null {
  if (visitFields.has(target)) return "visit";
  return target === "id" && visit === "event" && person.kind === "record" ? "id" : null;
}

function useInPerson({ person, inside }: Step, { target, key }: Alias): Use | null {
  const isInRecord = person.kind === "record" && inside === "person";
  if (target === "id") return isInRecord ? "id" : null;
  if (target === "time_zone") return isInRecord ? "time zone" : null;
  if (!visitFields.has(target)) return target === "company" ? "company" : "person";
  if (isInRecord) return creationNames.has(key) ? "creation" : "visit";
  return bareNames.has(key) ? null : "visit";
}

/** Returns the meaning of a value in an object that is named after a field. */
function valueOfField(step: Step, outer: Meaning, key: string): Meaning {
  const { target } = outer;
  if (target === null) return sign(step, null);
  const order = ["value", ...(valueNames[target] ?? [])].indexOf(key);
  if (order !== -1) return { ...outer, rank: outer.rank + order / 100 };
  const alias = find(aliasByKey, key);
  const part = target === "name" ? (nameParts.get(key) ?? alias?.target) : undefined;
  if (part === "first_name" || part === "last_name" || part === "name")
    return { ...outer, target: part, isBareName: false };
  return alias?.target === target ? { ...outer, rank: outer.rank + alias.order / perLevel } : sign(step, null);
}
