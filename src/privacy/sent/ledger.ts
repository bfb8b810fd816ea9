/**
 * The ledger of what was sent: which leads each key was sent on each UTC day. Each page that is answered is noted in memory, and
 * is written within a second. Nothing is inferred, and nothing in the ledger is of a person.
 */
import { type SQL, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import { type Connection, connectTo } from "../../db/connection.ts";
import { isFileOfNode } from "../../db/database-files.ts";
import { isLocked } from "../../db/failure.ts";
import type { KeyNumber } from "../../db/keys.ts";
import { isServed, writeWhenFree } from "../../db/locks.ts";
import { keys, sent } from "../../db/schema.ts";
import { addBits, type Blocks, packBits, unpackBits } from "./bits.ts";

/** The days for which the ledger is kept: a person may ask who received a lead during the last thirteen months. */
export const keptDays = 400;

/** Returns the newest day of the ledger that is not kept any longer. */
export function newestForgottenDay(nowMs: number): string {
  return dayOf(nowMs - (keptDays + 1) * dayMs);
}

/** A page is in the ledger within this time after it was served, wherever its server runs. */
export const recordedWithinMs = 1_500;

/** The time in which a waiting server writes once the lock is free. */
const afterLockMs = 500;
/** The maximum number of waits for the lock. Programs that write a lot yield it at each request, so it is rarely free at once. */
const maxLocks = 3;
/** The time limit for rewriting a large file. */
const maxLockedMs = 120_000;

/** Resolves when every page that was served until now is in the ledger of a file, unless its server is killed first. */
export async function untilRecorded(path: string): Promise<void> {
  if (isFileOfNode(path)) return await Bun.sleep(recordedWithinMs);
  if (!isServed(path)) return;
  await Bun.sleep(recordedWithinMs);
  // A server cannot write while another program rewrites the file, for example after a second erasure.
  using database = connectTo(path, "readwrite");
  for (let locks = 0; locks < maxLocks && (await waitForLock(database.$client)); locks++) await Bun.sleep(afterLockMs);
}

/** Resolves when the file can be written: true if another program had locked it. Throws SQLite's error after some time. */
async function waitForLock(client: Connection["$client"]): Promise<boolean> {
  const endMs = performance.now() + maxLockedMs;
  for (let hasWaited = false; ; hasWaited = true) {
    try {
      writeWhenFree(client, () => client.run("BEGIN IMMEDIATE"), 0);
      client.run("ROLLBACK");
      return hasWaited;
    } catch (cause) {
      if (!isLocked(cause) || performance.now() > endMs) throw cause;
      await Bun.sleep(10);
    }
  }
}

/** The leads that one key was sent on one UTC day, and the timestamp of the newest one. */
export interface SentToKey {
  readonly key: KeyNumber;
  readonly blocks: Blocks;
  readonly newestMs: number;
}

/**
 * Returns the statements that add the leads sent to keys on a UTC day to the rows of a node, for one transaction; none if the
 * ledger has all of them. No other program writes these rows, so the statements may be run again if their outcome is unknown. A
 * key whose account was deleted since is left out.
 */
export function sentStatements(
  database: Connection,
  { day, keys: some }: { readonly day: string; readonly keys: readonly SentToKey[] },
  node = "",
): SQL[] {
  const stored = database.$client.query<{ bits: Uint8Array }, [number, string, number, string]>(
    "SELECT bits FROM sent WHERE key = ? AND day = ? AND block = ? AND node = ?",
  );
  const rows = some.flatMap(({ key, blocks }) =>
    [...blocks].flatMap(([block, bits]) => {
      const known = stored.get(key, day, block, node);
      const all = known === null ? bits : unpackBits(known.bits);
      return known !== null && !addBits(all, bits) ? [] : [[key, block, packBits(all).toString("hex")] as const];
    }),
  );
  // A key may have made requests without being sent leads.
  const sentTo = some.filter(({ blocks }) => blocks.size > 0);
  const newest = sentTo.map(({ key, newestMs }) => [key, newestMs] as const);
  const add = sql`
    INSERT INTO ${sent} (key, day, block, node, bits)
    SELECT value ->> 0, ${day}, value ->> 1, ${node}, unhex(value ->> 2) FROM json_each(${JSON.stringify(rows)})
    WHERE value ->> 0 IN (SELECT number FROM ${keys}) ON CONFLICT DO UPDATE SET bits = excluded.bits`;
  const readUpTo = sql`
    UPDATE ${keys} SET read_up_to = newest.ms
    FROM (SELECT value ->> 0 AS key, value ->> 1 AS ms FROM json_each(${JSON.stringify(newest)})) AS newest
    WHERE number = newest.key AND (read_up_to IS NULL OR read_up_to < newest.ms)`;
  return rows.length === 0 ? [] : [add, readUpTo];
}

/** Returns whether the ledger has days that are not kept any longer. */
export function areSentDaysOld(database: Connection, nowMs: number): boolean {
  return database.values(sql`SELECT 1 FROM ${sent} WHERE ${areOld(nowMs)} LIMIT 1`).length > 0;
}

/** Returns the statement that deletes those days. They cannot be recovered, so the clock must be trusted. */
export function forgetOldSentDays(nowMs: number): SQL {
  return sql`DELETE FROM ${sent} WHERE ${areOld(nowMs)}`;
}

/** The first condition lets SQLite use the key of the table. */
function areOld(nowMs: number): SQL {
  return sql`key IN (SELECT number FROM ${keys}) AND day <= ${newestForgottenDay(nowMs)}`;
}
