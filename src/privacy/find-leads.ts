/** Finds the leads of some persons, and other leads that mention them. */
import { isAscii } from "node:buffer";
import type { Lead } from "../contract/lead.ts";
import type { PersonIdentifier } from "../contract/person.ts";
import type { Connection } from "../db/connection.ts";
import type { PersonReference } from "../store/privacy.ts";
import { collectingGarbage } from "./garbage-collection.ts";
import { digestsOf, identifiersOf } from "./identifiers.ts";
import { leadsOf, type OnRead, type Row, readLead } from "./search/all-leads.ts";
import { createSearch } from "./search/byte-search.ts";
import { formsOf, standsAlone } from "./search/forms.ts";

/** A lead is named by its moment, which no other lead of the account has; a person by the place in the list. */
export interface FoundLeads {
  readonly own: ReadonlyMap<number, readonly number[]>;
  /** Leads of others that hold an identifier of the person, such as in page_url: their ids by their moments. */
  readonly mentions: ReadonlyMap<number, ReadonlyMap<number, string>>;
  /** Identifiers that were not given, and that the persons' own leads have. */
  readonly further: readonly Known[];
}

/**
 * Finds all persons in one reading of the leads, or in two. A longer list takes hardly longer. `before` has further
 * identifiers of leads that are gone since.
 */
export function findLeads(
  database: Connection,
  account: number,
  persons: readonly PersonReference[],
  onRead: OnRead,
  before: Pick<FoundLeads, "further"> = { further: [] },
): FoundLeads {
  const own = new Map<number, number[]>();
  const mentions = new Map<number, Map<number, string>>();
  const further = [...before.further, ...findPersons(persons, leadsOf(database, account, onRead), own, mentions)];
  if (further.length > 0) findMentions(further, leadsOf(database, account, onRead), own, mentions);
  return { own, mentions, further };
}

/** The place of each person in a list, by what names the person: the first one where it comes again. */
export function firstPlaces(persons: readonly PersonReference[]): ReadonlyMap<string, number> {
  return new Map(persons.map(({ value }, place) => [value, place] as const).toReversed());
}

/** The references that name a lead. */
export function referencesTo(lead: Lead, withDigests: boolean): string[] {
  const identifiers = identifiersOf(lead);
  return [...identifiers.map(({ value }) => value), ...(withDigests ? identifiers.flatMap(digestsOf) : [])];
}

/** Whether an identifier in a lead of the person is also blocked and looked for. */
export function isTakenAlong(reference: PersonReference, identifier: PersonIdentifier): boolean {
  if (identifier.kind === "email" || identifier.value === reference.value) return true;
  return reference.kind === "digest"
    ? digestsOf(identifier).includes(reference.value)
    : reference.kind === "id" && identifier.kind === "phone";
}

/** An identifier, and the person whom it names. */
interface Known {
  readonly identifier: PersonIdentifier;
  readonly place: number;
}

/** Finds the leads of the persons, and leads that mention them. Gives further identifiers, which their own leads have. */
function findPersons(
  persons: readonly PersonReference[],
  rows: Iterable<Row>,
  own: Map<number, number[]>,
  mentions: Map<number, Map<number, string>>,
): Known[] {
  const places = firstPlaces(persons);
  const given = [...places.values()].flatMap((place) => knownOf(persons[place], place));
  const withDigests = given.length < places.size;
  const further = new Map<string, Known>();
  const holders = openHolders(given);
  for (const [ms, doc] of rows) {
    const held = holders(doc);
    // Outside ASCII, two spellings of one letter have different bytes.
    if (held.size === 0 && !withDigests && isAscii(doc)) continue;
    const lead = readLead(doc);
    for (const place of new Set(referencesTo(lead, withDigests).flatMap((reference) => places.get(reference) ?? []))) {
      held.delete(place);
      own.getOrInsertComputed(place, () => []).push(ms);
      for (const identifier of takenAlong(lead, persons[place])) {
        if (!places.has(identifier.value)) further.set(identifier.value, { identifier, place });
      }
    }
    for (const place of held) mention(mentions, place, ms, lead.id);
  }
  return [...further.values()];
}

/** An identifier can be looked for in texts. A digest cannot. */
function knownOf(reference: PersonReference | undefined, place: number): Known[] {
  return reference === undefined || reference.kind === "digest"
    ? []
    : [{ identifier: { kind: reference.kind, value: reference.value }, place }];
}

function takenAlong(lead: Lead, reference: PersonReference | undefined): PersonIdentifier[] {
  return reference === undefined ? [] : identifiersOf(lead).filter((identifier) => isTakenAlong(reference, identifier));
}

function findMentions(
  known: readonly Known[],
  rows: Iterable<Row>,
  own: ReadonlyMap<number, readonly number[]>,
  mentions: Map<number, Map<number, string>>,
): void {
  const theirs = new Map(
    [...new Set(known.map(({ place }) => place))].map((place) => [place, new Set(own.get(place))]),
  );
  const holders = openHolders(known);
  for (const [ms, doc] of rows) {
    for (const place of holders(doc)) {
      if (theirs.get(place)?.has(ms) !== true) mention(mentions, place, ms, readLead(doc).id);
    }
  }
}

function mention(mentions: Map<number, Map<number, string>>, place: number, ms: number, id: string): void {
  mentions.getOrInsertComputed(place, () => new Map()).set(ms, id);
}

const valuesUntilCollected = 10_000;

/** Says whose identifiers stand in a document, and not as parts of longer words. */
function openHolders(known: readonly Known[]): (doc: Uint8Array) => Set<number> {
  if (known.length === 0) return () => new Set();
  // One after the other: the forms of a long list would fill the memory.
  const search = createSearch(
    collectingGarbage(known, valuesUntilCollected).map(({ identifier }) => formsOf(identifier)),
  );
  return (doc) => {
    const held = new Set<number>();
    search.look(doc, 0, doc.length, (value, start, end) => {
      const one = known[value];
      if (one !== undefined && standsAlone(one.identifier.kind, doc, start, end)) held.add(one.place);
    });
    return held;
  };
}
