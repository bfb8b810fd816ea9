/** A look through the leads of an account for some persons: whose each lead is, and which others hold something of them. */
import { isAscii } from "node:buffer";
import type { Lead } from "../../contract/lead.ts";
import type { PersonMark, PersonTrait } from "../../store/privacy.ts";
import type { Connection } from "../connection.ts";
import { collecting } from "./garbage.ts";
import { leadsOf, type OnRead, type Row, readLead } from "./reading-leads.ts";
import { createSearch } from "./search/byte-search.ts";
import { formsOf, standsAlone } from "./search/forms.ts";
import { digestsOf, traitsOf } from "./traits.ts";

/** Leads are known by the moment that each has for itself in its account, persons by their place in the list. */
export interface Sight {
  readonly own: ReadonlyMap<number, readonly number[]>;
  /** Leads that are not theirs and hold what they are known by, such as in an address: moments with ids. */
  readonly mentions: ReadonlyMap<number, ReadonlyMap<number, string>>;
}

/** Looks for all persons at once. It takes as long as reading the leads once or twice, however many persons they are. */
export function lookFor(database: Connection, account: number, persons: readonly PersonMark[], onRead: OnRead): Sight {
  const own = new Map<number, number[]>();
  const mentions = new Map<number, Map<number, string>>();
  const further = findPersons(persons, leadsOf(database, account, onRead), own, mentions);
  if (further.length > 0) findMentions(further, leadsOf(database, account, onRead), own, mentions);
  return { own, mentions };
}

/** What a lead may be listed by. */
export function marksOf(lead: Lead, withDigests: boolean): string[] {
  const traits = traitsOf(lead);
  return [...traits.map(({ value }) => value), ...(withDigests ? traits.flatMap(digestsOf) : [])];
}

/** Whether what a lead says of its person is blocked and looked for together with what the person was listed by. */
export function isTakenAlong(mark: PersonMark, trait: PersonTrait): boolean {
  if (trait.kind === "email" || trait.value === mark.value) return true;
  return mark.kind === "digest" ? digestsOf(trait).includes(mark.value) : mark.kind === "id" && trait.kind === "phone";
}

/** A value and whose it is. */
interface Known {
  readonly trait: PersonTrait;
  readonly place: number;
}

/** Finds the leads of the persons, and those that mention what was given; returns what else their own leads say of them. */
function findPersons(
  persons: readonly PersonMark[],
  rows: Iterable<Row>,
  own: Map<number, number[]>,
  mentions: Map<number, Map<number, string>>,
): Known[] {
  const places = new Map(persons.map(({ value }, place) => [value, place] as const).toReversed());
  const given = [...places.values()].flatMap((place) => knownOf(persons[place], place));
  const withDigests = given.length < places.size;
  const further = new Map<string, Known>();
  const holders = openHolders(given);
  for (const [ms, doc] of rows) {
    const held = holders(doc);
    // Beyond ASCII two letters may be the same without their bytes being alike.
    if (held.size === 0 && !withDigests && isAscii(doc)) continue;
    const lead = readLead(doc);
    for (const place of new Set(marksOf(lead, withDigests).flatMap((mark) => places.get(mark) ?? []))) {
      held.delete(place);
      collect(own, place, ms);
      for (const trait of takenAlong(lead, persons[place])) {
        if (!places.has(trait.value)) further.set(trait.value, { trait, place });
      }
    }
    for (const place of held) mention(mentions, place, ms, lead.id);
  }
  return [...further.values()];
}

/** What can be looked for in texts: a digest cannot. */
function knownOf(mark: PersonMark | undefined, place: number): Known[] {
  return mark === undefined || mark.kind === "digest" ? [] : [{ trait: { kind: mark.kind, value: mark.value }, place }];
}

function takenAlong(lead: Lead, mark: PersonMark | undefined): PersonTrait[] {
  return mark === undefined ? [] : traitsOf(lead).filter((trait) => isTakenAlong(mark, trait));
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

function collect(own: Map<number, number[]>, place: number, ms: number): void {
  const known = own.get(place);
  if (known === undefined) own.set(place, [ms]);
  else known.push(ms);
}

function mention(mentions: Map<number, Map<number, string>>, place: number, ms: number, id: string): void {
  const known = mentions.get(place);
  if (known === undefined) mentions.set(place, new Map([[ms, id]]));
  else known.set(ms, id);
}

const valuesUntilCollected = 10_000;

/** Tells whose values stand for themselves in a document. */
export function openHolders(known: readonly Known[]): (doc: Uint8Array) => Set<number> {
  if (known.length === 0) return () => new Set();
  // One after the other: the forms of a long list are more than is to be in memory at once.
  const search = createSearch(collecting(known, valuesUntilCollected).map(({ trait }) => formsOf(trait)));
  return (doc) => {
    const held = new Set<number>();
    search.look(doc, 0, doc.length, (value, start, end) => {
      const one = known[value];
      if (one !== undefined && standsAlone(one.trait.kind, doc, start, end)) held.add(one.place);
    });
    return held;
  };
}
