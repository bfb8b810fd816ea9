/** Splits long work into short steps, so that other writers do not wait for long. */
import { and, asc, gte, inArray, type SQL } from "drizzle-orm";
import { changedExactly, type LeadDatabase, type Statement, tryToWrite } from "./connection.ts";
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

/** The leads that one write deletes. */
const steps = { min: 200, max: 4_000, shortMs: 60, longMs: 150 };

/**
 * Deletes the leads that meet a condition, oldest first, in batches. Each write begins with the statements of `before`, which
 * gets the condition on its leads. Yields and returns the number of leads deleted so far. Also works on a cluster.
 */
export async function* deleteLeads(
  database: LeadDatabase,
  those: SQL | undefined,
  before: (read: LeadDatabase["read"], some: SQL | undefined) => readonly Statement[],
): AsyncGenerator<number, number> {
  let deleted = 0;
  let size = steps.min;
  // Leads that stay are passed once.
  for (let fromMs = Number.MIN_SAFE_INTEGER; ; ) {
    const startedMs = performance.now();
    const { read } = database;
    const left = read.select({ number: leads.number, ms: leads.identifiedAt }).from(leads);
    const next = left
      .where(and(those, gte(leads.identifiedAt, fromMs)))
      .orderBy(asc(leads.identifiedAt))
      .limit(size);
    const found = next.all();
    const last = found.at(-1);
    if (last === undefined) return deleted;
    // By number, so that the lock is not held while leads that are kept are scanned.
    const numbers = found.map(({ number }) => number);
    const some = and(inArray(leads.number, numbers), those);
    const statements = [...before(read, some), read.delete(leads).where(some), changedExactly(numbers.length)];
    // If it is refused, others have deleted some of them, or added others.
    if (!(await tryToWrite(database, statements))) continue;
    const tookMs = performance.now() - startedMs;
    size = nextSize(size, tookMs, steps);
    fromMs = last.ms;
    yield (deleted += numbers.length);
    // Other writers poll for the lock, and would rarely find it free between two writes.
    await Bun.sleep(tookMs / 4);
  }
}
