/** What is held on persons: their leads, who received them, and which other leads mention them. */
import { eq } from "drizzle-orm";
import { writeMoment } from "../contract/time.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import { accounts, imports } from "../db/schema.ts";
import { type Gap, gapsFor } from "./disclosures/gaps.ts";
import { arrivedLead, openRecipients, type Received } from "./disclosures/recipients.ts";
import { detailOf } from "./erase.ts";
import { findLeads, firstPlaces, holdsAny, type OnRead, openLeadAt } from "./find.ts";
import { countPeople, type PersonReference } from "./identifiers.ts";
import type { Matcher } from "./mentions.ts";
import type { SuppressedAccount } from "./suppressions.ts";

export interface Held {
  /** The stored documents, newest first. */
  readonly leads: readonly string[];
  /** Who received them, in their order, each with the ID of the lead. */
  readonly received: readonly (Received & { readonly id: string })[];
  /** The gaps of that record. */
  readonly gaps: readonly Gap[];
  readonly imports: readonly { readonly import: number; readonly at: string; readonly file: string }[];
  /** The IDs of other leads that hold an identifier of the person, such as in page_url. */
  readonly mentions: readonly string[];
}

/** Finds what is held on each person, in the order of the list. The search is put on record. */
export async function* findHeld(
  database: LeadDatabase,
  account: SuppressedAccount,
  persons: readonly PersonReference[],
  nowMs: number,
  onRead: OnRead,
): AsyncGenerator<Held> {
  const { read } = database;
  const { own, mentions } = findLeads(read, account.number, persons, onRead);
  const count = [...own.values()].reduce((sum, { length }) => sum + length, 0);
  const detail = { ...detailOf(persons, persons.length), leads: count };
  await database.write([insertAct(read, { atMs: nowMs, act: "lead.find", account: account.id, detail })]);
  const leadAt = openLeadAt(read, account.number);
  const moments = [...own.values()].flat().map((ms) => ({ ms }));
  const recipientsOf = openRecipients(read, account.number, moments, nowMs);
  // A person who is listed twice was found in the first place.
  const places = firstPlaces(persons);
  for (const { kind, value } of persons) {
    const place = places.get(`${kind} ${value}`) ?? 0;
    const found = (own.get(place) ?? []).toReversed().flatMap(leadAt);
    const arrived = found.map(({ lead, batch }) => ({ id: lead.id, ...arrivedLead(lead, batch) }));
    yield {
      leads: found.map(({ doc }) => doc),
      received: arrived.flatMap((one) => recipientsOf(one).map((received) => ({ id: one.id, ...received }))),
      gaps: gapsFor(read, account.number, arrived, nowMs),
      imports: [...new Set(found.map(({ batch }) => batch))].flatMap((batch) => importNamed(read, batch)),
      mentions: [...(mentions.get(place)?.values() ?? [])],
    };
  }
}

/** What an erasure would take. */
export interface Survey {
  /** How many leads there are of each person. */
  readonly leads: readonly number[];
  /** How many different people they name: more than one where many share a phone. */
  readonly people: readonly number[];
  /** The IDs of other leads that hold an identifier of a person. */
  readonly mentions: readonly string[];
}

export function surveyErasure(
  database: Connection,
  account: number,
  persons: readonly PersonReference[],
  onRead: OnRead,
): Survey {
  const { own, mentions } = findLeads(database, account, persons, onRead);
  const leadAt = openLeadAt(database, account);
  const leadsOf = (place: number) => (own.get(place) ?? []).flatMap(leadAt).map(({ lead }) => lead);
  return {
    leads: persons.map((_, place) => own.get(place)?.length ?? 0),
    people: persons.map((_, place) => countPeople(leadsOf(place))),
    mentions: [...new Set([...mentions.values()].flatMap((ids) => [...ids.values()]))],
  };
}

/** The names of the accounts with leads that hold an erased person. */
export function accountsHolding(database: Connection, matcher: Matcher<unknown>): string[] {
  const all = database.select({ number: accounts.number, name: accounts.name }).from(accounts).all();
  return all.filter(({ number }) => holdsAny(database, number, matcher)).map(({ name }) => name);
}

/** The import that brought a lead; none where it is not known. */
function importNamed(database: Connection, number: number): Held["imports"] {
  const [one] = database.select().from(imports).where(eq(imports.number, number)).all();
  return one === undefined ? [] : [{ import: number, at: writeMoment(one.at), file: one.file }];
}
