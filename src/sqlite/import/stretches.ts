/**
 * Many leads at once: a stretch of what was put aside goes in by one statement, which takes two thirds of the time. It goes in
 * whole or not at all. Where a lead of it does not fit (its id or its millisecond is there, its pixel is not), nothing
 * is changed, and each lead has to be looked at (place.ts).
 */
import { sql } from "drizzle-orm";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { codeOf } from "../failure.ts";
import { positionOf } from "../position.ts";
import { leads, pixels } from "../schema.ts";

/** The leads at the places from `from` on, in the order in which they go in. */
export interface Stretch {
  readonly from: number;
  readonly leads: number;
  /** How many of them get the time of import. */
  readonly untimed: number;
  /** How many have a time that lay ahead of the clock. */
  readonly clamped: number;
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
  /** How many are older than the newest lead that the account had. */
  readonly older: number;
}

export interface Stretches {
  /** So many leads from a place on, or all that are left. */
  look(from: number, most: number, newestBeforeMs: number | null): Stretch;
  /** Writes all of a stretch as leads of a batch; false where it did not fit. */
  insert(stretch: Stretch, batch: number): boolean;
}

/** Over the connection on which the leads were put aside (staging.ts). */
export function openStretches(database: Connection, account: AccountNumber, dryRun: boolean): Stretches {
  const look = database.$client.query<Omit<Stretch, "from">, [number | null, number, number]>(`
    SELECT count(*) AS leads, count(*) - count(at) AS untimed, total(clamped) AS clamped, min(at) AS oldestMs,
      max(at) AS newestMs, count(CASE WHEN at < ? THEN 1 END) AS older
    FROM in_order WHERE place > ? AND place <= ?`);
  const insert = prepareInsert(database, account, dryRun);
  return {
    look(from, most, newestBeforeMs) {
      const found = look.get(newestBeforeMs, from, from + most);
      if (found === null) throw new Error("a count of rows gave none");
      return { from, ...found };
    },
    insert({ from, leads }, batch) {
      try {
        insert.run({ batch, from, to: from + leads });
        return true;
      } catch (cause) {
        if (codeOf(cause).startsWith("SQLITE_CONSTRAINT")) return false;
        throw cause;
      }
    },
  };
}

function prepareInsert(database: Connection, account: AccountNumber, dryRun: boolean) {
  const pixel = sql`SELECT number FROM ${pixels} WHERE ${pixels.account} = ${account} AND ${pixels.id} = staged.pixel`;
  return database
    .insert(leads)
    .select(
      sql`SELECT ${positionOf(sql`${account}`, sql`staged.at`)}, unhex(staged.id, '-'), (${pixel}), staged.state,
          staged.city_key, staged.has_email, ${sql.placeholder("batch")}, ${dryRun ? sql`''` : sql`staged.document`}
        FROM in_order CROSS JOIN staged ON staged.place = in_order.lead
        WHERE in_order.place > ${sql.placeholder("from")} AND in_order.place <= ${sql.placeholder("to")}
        ORDER BY in_order.place`,
    )
    .prepare();
}
