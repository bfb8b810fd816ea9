/** Erases and retains as the commands do, without their output. */

import type { Account } from "../../src/db/accounts.ts";
import type { LeadDatabase } from "../../src/db/connection.ts";
import { type ErasedPerson, Erasure } from "../../src/privacy/erase.ts";
import { findPersons, type PersonalData } from "../../src/privacy/find.ts";
import type { PersonReference } from "../../src/privacy/identifiers.ts";
import { eraseOlder, setRetention } from "../../src/privacy/retention.ts";
import type { Admin, Ended } from "./admin.ts";

/** The options that name one person, or the text of a list. */
export type Named = readonly string[] | string;

/** Runs `lead find`, `erase`, or `unblock` on the account acme, with --json. */
export function onPersons(admin: Admin, verb: string, named: Named, ...options: readonly string[]): Promise<Ended> {
  const isList = typeof named === "string";
  const how = isList ? ["--list", "-"] : named;
  return admin.give(isList ? named : "", "lead", verb, "acme", "--json", ...how, ...options);
}

/** Erases persons, and returns them. Their bytes stay for `removeResidualBytes`. */
export async function erase(
  database: LeadDatabase,
  account: Account,
  persons: readonly PersonReference[],
  nowMs: number,
  { withMentions = false, onRead = (_: number): void => {} } = {},
): Promise<ErasedPerson[]> {
  const erasure = new Erasure(database, account, persons, { withMentions, onRead }, nowMs);
  for await (const _ of erasure.steps());
  return erasure.complete();
}

/** Finds the personal data on each person. */
export function held(
  database: LeadDatabase,
  account: Account,
  persons: readonly PersonReference[],
  nowMs: number,
): Promise<PersonalData[]> {
  return Array.fromAsync(findPersons(database, account, persons, nowMs, () => {}));
}

/** Sets a retention and applies it. Returns the number of leads that were erased after each step. */
export async function retain(
  database: LeadDatabase,
  account: Account,
  days: number | null,
  nowMs: number,
): Promise<number[]> {
  await setRetention(database, account, days, nowMs);
  return days === null ? [] : Array.fromAsync(eraseOlder(database, { ...account, retainDays: days }, nowMs));
}
