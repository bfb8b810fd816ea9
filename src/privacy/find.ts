/** Finds the leads of persons, and other leads that mention them, in one pass over the leads of an account. */
import { and, asc, eq, gte, isNotNull, sql } from "drizzle-orm";
import { earliestMs } from "../contract/calendar.ts";
import { type Lead, leadFields } from "../contract/lead.ts";
import type { PersonIdentifier } from "../contract/person.ts";
import type { Connection } from "../db/connection.ts";
import { placeholder } from "../db/placeholder.ts";
import { accounts, imports, keys, leads, pixels, sources } from "../db/schema.ts";
import { blockedWith, digestsOf, identifiersIn, identifiersOf, type PersonReference } from "./identifiers.ts";
import { createMatcher, type Matcher, type Wanted } from "./mentions.ts";

/** A lead as it is stored. */
export interface StoredLead {
  readonly lead: Lead;
  /** The lead as it is served, to the byte. */
  readonly doc: string;
  /** The number of the import that added it. */
  readonly batch: number;
}

/** A lead is named by its timestamp, which no other lead of the account has; a person by the place in the list. */
export interface FoundLeads {
  readonly own: ReadonlyMap<number, readonly number[]>;
  /** Leads of others that hold an identifier of the person, such as in page_url: their IDs by their timestamps. */
  readonly mentions: ReadonlyMap<number, ReadonlyMap<number, string>>;
  /** Identifiers that were not given, and that the persons' own leads have. */
  readonly further: readonly Wanted<number>[];
}

/** Called now and then with the number of leads that were read. */
export type OnRead = (leads: number) => void;

/** The place of each person in a list, by what names the person: the first one if it occurs again. */
export function firstPlaces(persons: readonly PersonReference[]): ReadonlyMap<string, number> {
  return new Map(
    persons.flatMap((person, place) => namesOf(person).map((name) => [name, place] as const)).toReversed(),
  );
}

/**
 * Finds all persons of a list. A second pass looks for mentions of what the persons' own leads have besides; `before` has
 * such identifiers of leads that are gone.
 */
export function findLeads(
  database: Connection,
  account: number,
  persons: readonly PersonReference[],
  onRead: OnRead,
  before: readonly Wanted<number>[] = [],
): FoundLeads {
  const own = new Map<number, number[]>();
  const mentions = new Map<number, Map<number, string>>();
  const places = firstPlaces(persons);
  const further = new Map(before.map((one) => [nameOf(one), one]));
  const given = [...new Set(places.values())].flatMap((place) => wantedAt(persons[place], place));
  const withDigests = persons.some(({ kind }) => kind === "digest");

  /** Notes whose a lead is, and whom else it mentions. */
  function note({ ms, lead }: ReadLead, matcher: Matcher<number>): Set<number> {
    const theirs = placesOf(lead, places, withDigests);
    for (const place of holdersIn(lead, matcher).difference(theirs)) {
      mentions.getOrInsertComputed(place, () => new Map()).set(ms, lead.id);
    }
    return theirs;
  }

  const givenIn = createMatcher(given);
  for (const read of readLeads(database, account, onRead)) {
    for (const place of note(read, givenIn)) {
      own.getOrInsertComputed(place, () => []).push(read.ms);
      for (const one of blockedAt(persons[place], read.lead)) {
        if (!places.has(nameOf(one))) further.set(nameOf(one), { ...one, owner: place });
      }
    }
  }
  if (further.size === 0) return { own, mentions, further: [] };
  const furtherIn = createMatcher(further.values());
  for (const read of readLeads(database, account, onRead)) note(read, furtherIn);
  return { own, mentions, further: [...further.values()] };
}

function nameOf({ kind, value }: PersonReference): string {
  return `${kind} ${value}`;
}

function namesOf(reference: PersonReference): string[] {
  return reference.kind === "digest" ? [nameOf(reference)] : identifiersIn(reference).map(nameOf);
}

function blockedAt(reference: PersonReference | undefined, lead: Lead): PersonIdentifier[] {
  return reference === undefined ? [] : blockedWith(reference, lead);
}

/** An identifier can be looked for in texts. A digest cannot. */
function wantedAt(reference: PersonReference | undefined, owner: number): Wanted<number>[] {
  return reference === undefined ? [] : identifiersIn(reference).map((one) => ({ ...one, owner }));
}

function placesOf(lead: Lead, places: ReadonlyMap<string, number>, withDigests: boolean): Set<number> {
  const identifiers = identifiersOf(lead);
  const names = identifiers.map(nameOf);
  const digests = withDigests ? identifiers.flatMap(digestsOf).map((digest) => `digest ${digest}`) : [];
  return new Set([...names, ...digests].flatMap((name) => places.get(name) ?? []));
}

/** Fields in which no identifier can stand. */
const plainFields: ReadonlySet<string> = new Set(["identified_at", "state"]);
const searchedFields = leadFields.filter((field) => !plainFields.has(field));

/** Who is mentioned in any field of a lead. */
function holdersIn<Owner>(lead: Lead, matcher: Matcher<Owner>): Set<Owner> {
  const held = new Set<Owner>();
  for (const field of searchedFields) {
    const text = lead[field];
    if (text !== null && text.length > 3) for (const owner of matcher(text)) held.add(owner);
  }
  return held;
}

/** Whether any lead of an account holds what a matcher looks for. */
export function holdsAny(database: Connection, account: number, matcher: Matcher<unknown>): boolean {
  for (const { lead } of readLeads(database, account, () => {})) if (holdersIn(lead, matcher).size > 0) return true;
  return false;
}

const leadsAtOnce = 1000;
const leadsUntilCollected = 20_000;

interface ReadLead {
  readonly ms: number;
  readonly lead: Lead;
}

/** Reads all leads of an account, oldest first, in groups: a short read does not keep the log from being emptied. */
function* readLeads(database: Connection, account: number, onRead: OnRead): Generator<ReadLead> {
  const some = database
    .select({ ms: leads.identifiedAt, doc: leads.doc })
    .from(leads)
    .where(and(eq(leads.account, placeholder.integer("account")), gte(leads.identifiedAt, placeholder.integer("from"))))
    .orderBy(asc(leads.identifiedAt))
    .limit(leadsAtOnce)
    .prepare();
  let read = 0;
  for (let from = earliestMs; ; ) {
    const rows = some.values({ account, from });
    const last = rows.at(-1);
    if (last === undefined) return;
    for (const [ms, doc] of rows) yield { ms, lead: JSON.parse(doc) };
    read += rows.length;
    // By itself the engine lets half a gigabyte gather.
    if (read % leadsUntilCollected === 0) Bun.gc(true);
    onRead(read);
    from = last[0] + 1;
  }
}

/** Prepares reading the lead at a timestamp: one, or none. */
export function openLeadAt(database: Connection, account: number): (ms: number) => StoredLead[] {
  const atMoment = and(eq(leads.account, account), eq(leads.identifiedAt, placeholder.integer("ms")));
  const one = database.select({ doc: leads.doc, batch: leads.import }).from(leads).where(atMoment).prepare();
  return (ms) => one.values({ ms }).map(([doc, batch]) => ({ lead: JSON.parse(doc), doc, batch }));
}

/** The names that the operator has given and that hold a person: of an import's file, a pixel, a key, a source, an account. */
export function givenNamesWith(database: Connection, matcher: Matcher<unknown>): string[] {
  const texts = [
    ...database.select({ text: accounts.name }).from(accounts).all(),
    ...database.select({ text: pixels.id }).from(pixels).all(),
    ...database.selectDistinct({ text: imports.file }).from(imports).all(),
    ...database.selectDistinct({ text: imports.rejectsFile }).from(imports).where(isNotNull(imports.rejectsFile)).all(),
    ...database.select({ text: keys.label }).from(keys).where(isNotNull(keys.label)).all(),
    ...database.select({ text: sources.label }).from(sources).where(isNotNull(sources.label)).all(),
  ];
  // The ending of a file's name would count as a part of a domain.
  const holds = (text: string) =>
    [text, text.replace(/\.\w+$/, ""), text.replace(/\.\w+\.\w+$/, "")].some((one) => matcher(one).size > 0);
  const holding = texts.flatMap(({ text }) => (text !== null && holds(text) ? [text] : []));
  return [...new Set(holding)].toSorted();
}

/** How many leads an account has. */
export function countLeads(database: Connection, account: number): number {
  return (
    database.select({ count: sql<number>`count(*)` }).from(leads).where(eq(leads.account, account)).get()?.count ?? 0
  );
}
