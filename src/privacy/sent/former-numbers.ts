/** The numbers that leads had before they left: a lead that is undone or lost in a restore, and imported again, keeps its recipients. */
import { and, eq, lt, notExists, type SQL, sql } from "drizzle-orm";
import type { Connection, LeadDatabase, Statement } from "../../db/connection.ts";
import { formerNumbers, leads } from "../../db/schema.ts";
import { bytesOf } from "../../db/uuid.ts";
import { addBits, blockOf, hasNumber, unpackBits } from "./bits.ts";
import { newestGapMs } from "./gaps.ts";
import { untilRecorded } from "./ledger.ts";

/** Returns the statement that remembers the numbers of leads that meet a condition, before they are deleted. */
export function rememberNumbers(those: SQL | undefined): Statement {
  return sql`
    INSERT OR IGNORE INTO ${formerNumbers} (number, account, uuid, identified_at)
    SELECT number, account, uuid, identified_at FROM ${leads} WHERE ${those}`;
}

/** Returns the statement that forgets the former numbers of leads that meet a condition, before they are erased. */
export function forgetNumbers(those: SQL | undefined): Statement {
  return sql`DELETE FROM ${formerNumbers} WHERE (account, uuid) IN (SELECT account, uuid FROM ${leads} WHERE ${those})`;
}

/** Returns the statement that forgets the former numbers of a lead that left, by its ID. */
export function forgetNumbersOf(database: Connection, account: number, id: string): Statement {
  const { account: owner, uuid } = formerNumbers;
  return database.delete(formerNumbers).where(and(eq(owner, account), eq(uuid, bytesOf(id))));
}

/** Returns the statement that forgets the leads of an account that left, and are older than it keeps. */
export function forgetOlderNumbers(database: Connection, account: number, oldestMs: number): Statement {
  const { account: owner, uuid, identifiedAt } = formerNumbers;
  const stored = database
    .select({ number: leads.number })
    .from(leads)
    .where(and(eq(leads.account, owner), eq(leads.uuid, uuid)));
  return database.delete(formerNumbers).where(and(eq(owner, account), lt(identifiedAt, oldestMs), notExists(stored)));
}

/** Returns whether any former number is stored. */
export function hasFormerNumbers(database: Connection): boolean {
  return database.select({ number: formerNumbers.number }).from(formerNumbers).limit(1).all().length > 0;
}

const numbersAtOnce = 4_000;

/**
 * Deletes, in short writes, the former numbers of leads that cannot have been sent to any key. A server may have sent a lead
 * just before the lead was undone.
 */
export async function forgetUnsentNumbers(database: LeadDatabase, now: () => number): Promise<void> {
  const { number, account, identifiedAt: ms } = formerNumbers;
  const all = database.read.select({ number, account, ms }).from(formerNumbers).all();
  if (all.length === 0) return;
  await untilRecorded(database.path);
  await database.catchUp();
  const mayHaveBeenSent = openMayHaveBeenSent(database.read, now());
  const unsent = all.filter((one) => !mayHaveBeenSent(one)).map((one) => one.number);
  for (let from = 0; from < unsent.length; from += numbersAtOnce) {
    const some = JSON.stringify(unsent.slice(from, from + numbersAtOnce));
    const those = sql`number IN (SELECT value FROM json_each(${some}))`;
    await database.write([sql`DELETE FROM ${formerNumbers} WHERE ${those}`]);
  }
}

/** The values of a stored lead that the ledger needs. */
interface NumberedLead {
  readonly number: number;
  readonly account: number;
  /** The time of the visit. */
  readonly ms: number;
}

/**
 * Reads the ledger (during a restore, that of the replaced file), and returns a function that tells whether a lead may have
 * been sent to a key of its account: the ledger says so, or has a gap after the visit.
 */
export function openMayHaveBeenSent(database: Connection, nowMs: number, schema: "main" | "old" = "main") {
  const rows = database.$client.query<{ account: number; block: number; bits: Uint8Array }, []>(
    `SELECT account, block, bits FROM ${schema}.sent AS row JOIN ${schema}.keys ON number = row.key`,
  );
  const known = new Map<string, Uint8Array>();
  for (const { account, block, bits } of rows.iterate()) {
    const all = known.get(`${account} ${block}`);
    if (all === undefined) known.set(`${account} ${block}`, unpackBits(bits));
    else addBits(all, unpackBits(bits));
  }
  const gapMs = newestGapMs(database, nowMs, schema);
  return ({ number, account, ms }: NumberedLead): boolean => {
    if (gapMs !== null && ms <= gapMs) return true;
    const bits = known.get(`${account} ${blockOf(number)}`);
    return bits !== undefined && hasNumber(bits, number);
  };
}
