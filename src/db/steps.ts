/** Splits long work into short steps, so that other writers do not wait for long. */
import { and, asc, gte, type SQL, sql } from "drizzle-orm";
import { type Connection, changedExactly, type LeadDatabase, type Statement } from "./connection.ts";
import { leads } from "./schema.ts";

/** The bounds of a step, in leads, and the times that make the next one larger or smaller. */
interface StepBounds {
  readonly min: number;
  readonly max: number;
  /** After a shorter step, the next one is twice as large. */
  readonly shortMs: number;
  /** After a longer step, the next one is half as large. */
  readonly longMs: number;
}

/** Returns the size of the next step, so that steps take about the same time on slow machines and fast ones. */
export function nextSize(size: number, tookMs: number, { min, max, shortMs, longMs }: StepBounds): number {
  if (tookMs > longMs) return Math.max(min, Math.floor(size / 2));
  return tookMs < shortMs ? Math.min(max, size * 2) : size;
}

/**
 * Deletes the leads that meet a condition, oldest first, in batches. Each begins with the statements of `before`, which gets
 * the condition on its leads. Yields and returns the number of leads deleted so far.
 */
export function deleteLeads(
  database: LeadDatabase,
  those: SQL | undefined,
  before: (read: Connection, some: SQL | undefined) => readonly Statement[],
): AsyncGenerator<number, number> {
  return database.writeBatches((read, fromMs, max) => {
    const found = read
      .select({ number: leads.number, ms: leads.identifiedAt })
      .from(leads)
      // Each batch continues where the previous one ended.
      .where(and(those, gte(leads.identifiedAt, fromMs)))
      .orderBy(asc(leads.identifiedAt))
      .limit(max)
      .all();
    const last = found.at(-1);
    if (last === undefined) return null;
    // By number, so that each statement does not read the remaining leads again.
    const numbers = JSON.stringify(found.map(({ number }) => number));
    const some = and(sql`${leads.number} IN (SELECT value FROM json_each(${numbers}))`, those);
    const statements = [...before(read, some), read.delete(leads).where(some), changedExactly(found.length)];
    return { statements, leads: found.length, lastMs: last.ms };
  });
}
