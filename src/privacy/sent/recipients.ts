/** The recipients of leads, and the gaps of that record. */
import { and, asc, eq, sql } from "drizzle-orm";
import { earliestMs } from "../../contract/calendar.ts";
import type { PersonIdentifier } from "../../contract/person.ts";
import type { Connection } from "../../db/connection.ts";
import { formerNumbers, imports, keys } from "../../db/schema.ts";
import { bytesOf } from "../../db/uuid.ts";
import { blockOf, hasNumber, unpackBits } from "./bits.ts";
import { type Gap, listGaps } from "./gaps.ts";
import { newestForgottenDay } from "./ledger.ts";

/** A key that was sent a lead, with the first and the last UTC day. */
export interface Received {
  /** The ID of the key. */
  readonly key: string;
  readonly label: string | null;
  /** The first characters of the key. */
  readonly prefix: string;
  readonly first: string;
  readonly last: string;
}

/** A lead in the ledger, without personal data. */
export interface LedgerLead {
  /** The number of the lead, and those that it had before it was undone or lost in a restore. */
  readonly numbers: readonly number[];
  /** The time of the visit. */
  readonly ms: number;
  /** A time before which no key was sent it. */
  readonly sinceMs: number;
}

/** The recipients of a lead, and the gaps of that record. */
export interface Disclosed {
  readonly received: readonly Received[];
  readonly gaps: readonly Gap[];
}

/** A stored lead, by what the ledger needs of it. */
interface StoredNumber {
  readonly id: string;
  readonly number: number;
  readonly ms: number;
  /** The number of the import that added it. */
  readonly batch: number;
}

/** Prepares reading what the ledger knows of the leads of an account. */
export function openLedgerLeads(database: Connection, account: number, nowMs: number) {
  const former = database
    .select({ number: formerNumbers.number, ms: formerNumbers.identifiedAt })
    .from(formerNumbers)
    .where(and(eq(formerNumbers.account, account), eq(formerNumbers.uuid, sql.placeholder("uuid"))))
    .prepare();
  const begins = importBegins(database, account, nowMs);
  const timesOf = (id: string, stored: readonly Pick<StoredNumber, "number" | "ms">[]) => {
    const left = former.all({ uuid: bytesOf(id) });
    const all = [...stored, ...left];
    return {
      hasLeft: left.length > 0,
      numbers: all.map(({ number }) => number),
      ms: Math.min(...all.map(({ ms }) => ms)),
    };
  };
  return {
    of({ id, batch, ...stored }: StoredNumber): LedgerLead {
      const { hasLeft, numbers, ms } = timesOf(id, [stored]);
      // A lead that left may have been there at any time since the visit.
      return { numbers, ms, sinceMs: hasLeft ? ms : (begins.get(batch) ?? earliestMs) };
    },
    /** Returns those leads among some identifiers that were undone, or lost in a restore, and are not stored, by their IDs. */
    left(identifiers: readonly PersonIdentifier[]): Map<string, LedgerLead> {
      const ids = identifiers.filter(({ kind }) => kind === "id").map(({ value }) => value);
      const all = ids.map((id) => [id, timesOf(id, [])] as const).filter(([, { hasLeft }]) => hasLeft);
      return new Map(all.map(([id, { numbers, ms }]) => [id, { numbers, ms, sinceMs: ms }]));
    },
  };
}

/** Returns when each import of an account began. None began later than one after it: where a row says so, the clock was wrong. */
function importBegins(database: Connection, account: number, nowMs: number): ReadonlyMap<number, number> {
  const rows = database.select({ number: imports.number, at: imports.at }).from(imports);
  let begunMs = nowMs;
  const newestFirst = rows
    .where(eq(imports.account, account))
    .all()
    .toSorted((one, other) => other.number - one.number);
  return new Map(newestFirst.map(({ number, at }) => [number, (begunMs = Math.min(begunMs, at))]));
}

/**
 * Reads the ledger of an account once, and returns who was sent each of some leads. Gaps that began after a time are left out,
 * as for a lead that was erased then.
 */
export function discloseLeads(
  database: Connection,
  account: number,
  some: readonly LedgerLead[],
  nowMs: number,
): Map<LedgerLead, Disclosed> {
  if (some.length === 0) return new Map();
  const received = receivedOf(database, account, some, nowMs);
  // A gap of the clock begins at an act that the clock has not reached.
  const gaps = listGaps(database, { account }, nowMs)
    .map((gap) => ({
      gap,
      fromMs: Date.parse(gap.from),
      toMs: gap.to === null ? Number.POSITIVE_INFINITY : Date.parse(gap.to),
    }))
    .filter(({ gap, fromMs }) => fromMs <= nowMs || gap.reason === "clock");
  return new Map(
    some.map((lead) => {
      // A restore, or an earlier version, may have known the lead from another import.
      const sinceOf = ({ reason }: Gap) => (reason === "restore" || reason === "upgrade" ? lead.ms : lead.sinceMs);
      const concerning = gaps.filter(({ gap, toMs }) => toMs >= sinceOf(gap)).map(({ gap }) => gap);
      return [lead, { received: received.get(lead) ?? [], gaps: concerning }];
    }),
  );
}

/** Returns the gaps that concern any of some leads, oldest first. */
export function gapsOf(disclosed: readonly Pick<Disclosed, "gaps">[]): Gap[] {
  const gaps = new Map(disclosed.flatMap((one) => one.gaps).map((gap) => [JSON.stringify(gap), gap]));
  return [...gaps.values()].toSorted((one, other) => one.from.localeCompare(other.from));
}

/** Returns the keys that were sent each lead, in the order of their creation. */
function receivedOf(database: Connection, account: number, some: readonly LedgerLead[], nowMs: number) {
  const numbered = some.flatMap((lead) => lead.numbers.map((number) => ({ lead, number })));
  const byBlock = Map.groupBy(numbered, ({ number }) => blockOf(number));
  const received = new Map<LedgerLead, Received[]>();
  const blocks = [...byBlock.keys()];
  for (const { number: keyNumber, ...key } of keysOfAccount(database, account)) {
    const days = new Map<LedgerLead, { first: string; last: string }>();
    for (const { day, block, bits } of blocksSentTo(database, keyNumber, blocks, nowMs)) {
      for (const { lead, number } of byBlock.get(block) ?? []) {
        if (hasNumber(bits, number)) days.getOrInsertComputed(lead, () => ({ first: day, last: day })).last = day;
      }
    }
    for (const [lead, { first, last }] of days)
      received.getOrInsertComputed(lead, () => []).push({ ...key, first, last });
  }
  return received;
}

function keysOfAccount(database: Connection, account: number) {
  return database
    .select({ number: keys.number, key: keys.id, label: keys.label, prefix: keys.prefix })
    .from(keys)
    .where(eq(keys.account, account))
    .orderBy(asc(keys.number))
    .all();
}

/** Yields some blocks of what a key was sent, in the order of days. Each step of the query skips the other blocks of a day. */
function* blocksSentTo(database: Connection, key: number, blocks: readonly number[], nowMs: number) {
  const next = database.$client.query<{ day: string | null }, [number, string]>(
    "SELECT min(day) AS day FROM sent WHERE key = ? AND day > ?",
  );
  const ofDay = database.$client.query<{ block: number; bits: Uint8Array }, [number, string, string]>(
    "SELECT block, bits FROM sent WHERE sent.key = ? AND day = ? AND block IN (SELECT value FROM json_each(?))",
  );
  const list = JSON.stringify(blocks);
  let day = next.get(key, newestForgottenDay(nowMs))?.day ?? null;
  while (day !== null) {
    for (const { block, bits } of ofDay.all(key, day, list)) yield { day, block, bits: unpackBits(bits) };
    day = next.get(key, day)?.day ?? null;
  }
}
