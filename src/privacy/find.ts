/** Finds persons: their leads, who received them, and which other leads mention them. */
import { and, count, eq, isNotNull } from "drizzle-orm";
import { type Lead, leadFields } from "../contract/lead.ts";
import { readDocument } from "../contract/stored-lead.ts";
import { formatTime } from "../contract/time.ts";
import { type OnRead, readLeads, type StoredDocument } from "../db/all-leads.ts";
import { recordReading } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import { placeholder } from "../db/placeholder.ts";
import { accounts, imports, keys, leads, pixels, sources } from "../db/schema.ts";
import {
  blockedWith,
  countPeople,
  digestsOf,
  identifiersIn,
  identifiersOf,
  type PersonReference,
} from "./identifiers.ts";
import { createMatcher, type Matcher, type Wanted } from "./mentions.ts";
import type { Gap } from "./sent/gaps.ts";
import {
  type Disclosed,
  discloseLeads,
  gapsOf,
  type LedgerLead,
  openLedgerLeads,
  type Received,
} from "./sent/recipients.ts";
import { openSuppressions, type SuppressedAccount } from "./suppressions.ts";

/** The leads of a person, by their timestamps, which are unique in an account. */
export interface FoundLeads {
  readonly own: readonly number[];
  /** Leads of others that contain an identifier of the person, such as in page_url: their IDs by their timestamps. */
  readonly mentions: ReadonlyMap<number, string>;
}

/** The result for a person without a lead. */
export const noLeads: FoundLeads = { own: [], mentions: new Map() };

/** The options of a search, and the listener of its progress. */
export interface Search {
  /** Also finds mentions. */
  readonly withMentions: boolean;
  readonly onRead: OnRead;
}

/**
 * Finds persons in one pass over the leads of an account. Mentions take a second pass, because the persons' own leads have
 * further identifiers; `before` has those of leads that are gone. Of a person who is listed twice, the first one has the leads.
 */
export function findLeads(
  database: Connection,
  account: number,
  persons: readonly PersonReference[],
  { withMentions, onRead }: Search,
  before: readonly Wanted<PersonReference>[] = [],
): Map<PersonReference, FoundLeads> {
  const found = new Map<PersonReference, { readonly own: number[]; readonly mentions: Map<number, string> }>();
  const foundOf = (person: PersonReference) =>
    found.getOrInsertComputed(person, () => ({ own: [], mentions: new Map() }));
  const byName = personsByName(persons);
  const withDigests = persons.some(({ kind }) => kind === "digest");
  const wanted = [...before, ...persons.flatMap(wantedOf)];

  function ownersOf(lead: Lead): Set<PersonReference> {
    const identifiers = identifiersOf(lead);
    const digests = withDigests ? identifiers.flatMap(digestsOf).map((digest) => `digest ${digest}`) : [];
    return new Set([...identifiers.map(nameOf), ...digests].flatMap((name) => byName.get(name) ?? []));
  }

  for (const { ms, doc } of readLeads(database, account, { onRead })) {
    const lead = readDocument(doc);
    for (const owner of ownersOf(lead)) {
      foundOf(owner).own.push(ms);
      const further = blockedWith(owner, lead).filter((one) => !byName.has(nameOf(one)));
      wanted.push(...further.map((one) => ({ ...one, owner })));
    }
  }
  if (!withMentions) return found;
  const matcher = createMatcher(wanted);
  for (const { ms, doc } of readLeads(database, account, { onRead })) {
    const lead = readDocument(doc);
    const mentioned = mentionedIn(lead, matcher)
      .values()
      .map((person) => byName.get(nameOf(person)) ?? person);
    for (const person of new Set(mentioned).difference(ownersOf(lead))) foundOf(person).mentions.set(ms, lead.id);
  }
  return found;
}

/** Returns everything that names a person, to look for it in texts. */
export const wantedOf = (owner: PersonReference): Wanted<PersonReference>[] =>
  [owner, ...identifiersIn(owner)].map(({ kind, value }) => ({ kind, value, owner }));

const nameOf = ({ kind, value }: PersonReference) => `${kind} ${value}`;

/** Returns the persons by everything that names them. If a name occurs twice, the first person has it. */
function personsByName(persons: readonly PersonReference[]): ReadonlyMap<string, PersonReference> {
  const named = persons.flatMap((person) =>
    [person, ...identifiersIn(person)].map((one) => [nameOf(one), person] as const),
  );
  return new Map(named.toReversed());
}

/** The length of the shortest identifier, such as a@b. */
const minLength = 3;
/** The fields that may contain an identifier. */
const searchedFields = leadFields.filter((field) => field !== "identified_at" && field !== "state");

/** Returns who is mentioned in any field of a lead. */
function mentionedIn<Owner>(lead: Lead, matcher: Matcher<Owner>): Set<Owner> {
  const mentioned = new Set<Owner>();
  for (const field of searchedFields) {
    const text = lead[field];
    if (text !== null && text.length >= minLength) for (const owner of matcher(text)) mentioned.add(owner);
  }
  return mentioned;
}

/** A stored lead, and the values of its document. */
export type StoredLead = StoredDocument & { readonly number: number; readonly lead: Lead };

/** Prepares reading the lead at a timestamp: one, or none. */
export function openLeadAt(database: Connection, account: number): (ms: number) => StoredLead[] {
  const atTime = and(eq(leads.account, account), eq(leads.identifiedAt, placeholder.integer("ms")));
  const columns = { doc: leads.doc, batch: leads.import, number: leads.number };
  const one = database.select(columns).from(leads).where(atTime).prepare();
  return (ms) =>
    one.values({ ms }).map(([doc, batch, number]) => ({ ms, doc, batch, number, lead: readDocument(doc) }));
}

/** The personal data that is stored on one person. */
export interface PersonalData {
  readonly person: PersonReference;
  /** The number of different people whom the leads name: more than one if they share a phone. */
  readonly people: number;
  /** The stored documents, newest first. */
  readonly leads: readonly string[];
  /** The recipients of each lead, with the ID of the lead. */
  readonly received: readonly (Received & { readonly id: string })[];
  /** The gaps of that record. */
  readonly gaps: readonly Gap[];
  readonly imports: readonly { readonly import: number; readonly at: string; readonly file: string }[];
  /** The IDs of other leads that contain an identifier of the person, such as in page_url. */
  readonly mentions: readonly string[];
}

/** Finds the personal data on each person, in the order of the list. The audit records the search. */
export async function* findPersons(
  database: LeadDatabase,
  account: SuppressedAccount,
  persons: readonly PersonReference[],
  nowMs: number,
  onRead: OnRead,
): AsyncGenerator<PersonalData> {
  const { read } = database;
  const all = findLeads(read, account.number, persons, { withMentions: true, onRead });
  const timestamps = [...all.values()].flatMap(({ own }) => own);
  const detail = { ...detailOf(persons, persons.length), leads: timestamps.length };
  await recordReading(database, "search", { atMs: nowMs, act: "lead.find", account: account.id, detail });
  const leadAt = openLeadAt(read, account.number);
  // The documents of a long list may not fit into memory together.
  const ledger = openLedgerLeads(read, account.number, nowMs);
  const known = new Map<string, LedgerLead>();
  for (const { lead, ...stored } of timestamps.flatMap(leadAt))
    known.set(lead.id, ledger.of({ ...stored, id: lead.id }));
  // A lead that was undone is not stored, but its recipients are known.
  const notStored = persons.flatMap(identifiersIn).filter(({ value }) => !known.has(value));
  for (const [id, lead] of ledger.left(notStored)) known.set(id, lead);
  const disclosed = discloseLeads(read, account.number, [...known.values()], nowMs);
  const disclosedOf = (id: string): (Disclosed & { readonly id: string })[] => {
    const one = known.get(id);
    return one === undefined ? [] : [{ id, ...(disclosed.get(one) ?? { received: [], gaps: [] }) }];
  };
  const byName = personsByName(persons);
  for (const person of persons) {
    const { own, mentions } = all.get(byName.get(nameOf(person)) ?? person) ?? noLeads;
    const found = own.toReversed().flatMap(leadAt);
    const ids = [
      ...found.map(({ lead }) => lead.id),
      ...identifiersIn(person).flatMap((one) => (one.kind === "id" ? [one.value] : [])),
    ];
    const theirs = [...new Set(ids)].flatMap(disclosedOf);
    yield {
      person,
      people: countPeople(found.map(({ lead }) => lead)),
      leads: found.map(({ doc }) => doc),
      received: theirs.flatMap(({ id, received }) => received.map((one) => ({ id, ...one }))),
      gaps: gapsOf(theirs),
      imports: [...new Set(found.map(({ batch }) => batch))].flatMap((batch) => importNamed(read, batch)),
      mentions: [...mentions.values()],
    };
  }
}

/** Returns the import that brought a lead; none if it is not known. */
function importNamed(database: Connection, number: number): PersonalData["imports"] {
  const found = database.select().from(imports).where(eq(imports.number, number)).all();
  return found.map(({ at, file }) => ({ import: number, at: formatTime(at), file }));
}

/** Returns how persons were named, for the audit. */
export function detailOf(persons: readonly PersonReference[], count: number): Record<string, string | number> {
  const [one] = persons;
  return persons.length === 1 && one !== undefined ? { by: one.kind } : { by: "list", persons: count };
}

/** The leads that an erasure would remove. */
export type Survey = ReturnType<typeof surveyErasure>;

/** Counts what an erasure would remove, by person, and lists the leads that contain an identifier elsewhere. */
export function surveyErasure(
  database: Connection,
  account: number,
  persons: readonly PersonReference[],
  onRead: OnRead,
) {
  const all = findLeads(database, account, persons, { withMentions: true, onRead });
  const leadAt = openLeadAt(database, account);
  const found = persons.map((person) => {
    const theirs = (all.get(person) ?? noLeads).own.flatMap(leadAt);
    return { person, leads: theirs.length, people: countPeople(theirs.map(({ lead }) => lead)) };
  });
  return {
    /** The number of leads of each person, in their order, and of the different people that they name. */
    found,
    /** The IDs of other leads that contain an identifier of a person. */
    mentions: [...new Set([...all.values()].flatMap(({ mentions }) => [...mentions.values()]))],
  };
}

/** The leads that contain an identifier of an erased person after the erasure. */
export interface RemainingLeads {
  /** The IDs of leads of the account that have a blocked address, phone, or ID: an import would leave them out. */
  readonly blocked: readonly string[];
  /** The IDs of its leads that only mention an identifier, such as in page_url. */
  readonly mentioning: readonly string[];
  /** The names of all accounts with such leads. */
  readonly accounts: readonly string[];
}

/** Finds what remains of erased persons in one pass over all leads: by everything that named them, and by what is blocked. */
export function findRemaining(
  database: Connection,
  account: SuppressedAccount,
  named: Matcher<unknown>,
  blocked: Matcher<unknown>,
  onRead: OnRead,
): RemainingLeads {
  const isBlocked = openSuppressions(database, account);
  const ids: Record<"blocked" | "mentioning", string[]> = { blocked: [], mentioning: [] };
  const all = database.select({ number: accounts.number, name: accounts.name }).from(accounts).all();
  const holding = all.filter(({ number }) => {
    let isHolding = false;
    for (const { doc } of readLeads(database, number, { onRead })) {
      const lead = readDocument(doc);
      if (mentionedIn(lead, named).size === 0) continue;
      if (number !== account.number) return true;
      isHolding = true;
      if (mentionedIn(lead, blocked).size > 0)
        ids[isBlocked?.(identifiersOf(lead)) ? "blocked" : "mentioning"].push(lead.id);
    }
    return isHolding;
  });
  return { ...ids, accounts: holding.map(({ name }) => name) };
}

/** Returns the names that the operator gave, such as to a pixel, a key, or the file of an import, and that contain a person. */
export function givenNamesWith(database: Connection, matcher: Matcher<unknown>): string[] {
  const texts = [
    ...database.select({ text: accounts.name }).from(accounts).all(),
    ...database.select({ text: pixels.id }).from(pixels).all(),
    ...database.selectDistinct({ text: imports.file }).from(imports).all(),
    ...database.selectDistinct({ text: imports.rejectsFile }).from(imports).where(isNotNull(imports.rejectsFile)).all(),
    ...database.select({ text: keys.label }).from(keys).where(isNotNull(keys.label)).all(),
    ...database.select({ text: sources.label }).from(sources).where(isNotNull(sources.label)).all(),
  ];
  // The extension of a file's name would count as a part of a domain.
  const isMatch = (text: string) =>
    [text, text.replace(/\.\w+$/, ""), text.replace(/\.\w+\.\w+$/, "")].some((one) => matcher(one).size > 0);
  return [...new Set(texts.flatMap(({ text }) => (text !== null && isMatch(text) ? [text] : [])))].toSorted();
}

/** Returns the number of leads of an account. */
export function countLeads(database: Connection, account: number): number {
  return database.select({ count: count() }).from(leads).where(eq(leads.account, account)).get()?.count ?? 0;
}
