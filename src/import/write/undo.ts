/** Undoes a batch: removes exactly the leads that it added, in short writes, so that nobody waits. Works on a cluster too. */
import { and, asc, count, eq, gt, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { Account } from "../../db/accounts.ts";
import { changedExactly, type LeadDatabase, WriteRefused } from "../../db/connection.ts";
import { type Batch, findBatch } from "../../db/imports.ts";
import { audit, imports, leads } from "../../db/schema.ts";
import { UserError } from "../../user-error.ts";
import { nextSize } from "./transactions.ts";

/** The leads that one write looks at. */
const steps = { min: 200, max: 4_000, shortMs: 60, longMs: 150 };

/**
 * Yields the number of leads that are removed so far, after each write. An undo that is interrupted is completed by the next
 * one. Throws a UserError if the batch replaced leads of other imports.
 */
export async function* undoBatch(
  database: LeadDatabase,
  account: Account,
  asked: Batch,
  nowMs: number,
): AsyncGenerator<number> {
  let batch = asked;
  let removed = 0;
  while (batch.undoneMs === null) {
    if (batch.overwritten > 0) throw hasReplaced(batch.number);
    for await (const some of removeLeads(database, account, batch)) yield (removed += some);
    await database.write(markUndone(account, batch, { nowMs, removed, finishedMs: asked.finishedMs }), "everywhere");
    await database.catchUp();
    // An import that still runs may have added leads since, or begun to replace others: then nothing was marked.
    batch = findBatch(database.read, account.number, batch.number) ?? { ...batch, undoneMs: nowMs };
  }
  yield removed;
}

/** Removes the leads of a batch from the oldest to the newest, and yields the number of each write. */
async function* removeLeads(database: LeadDatabase, account: Account, { number, oldestMs, newestMs }: Batch) {
  if (oldestMs === null || newestMs === null) return;
  let size = steps.min;
  for (let doneMs = oldestMs - 1; doneMs < newestMs; ) {
    const startedMs = performance.now();
    const toMs = endOfStep(database, account, { afterMs: doneMs, toMs: newestMs }, size);
    const theirs = and(between(account, doneMs, toMs), eq(leads.import, number), canUndo(number));
    const { read } = database;
    const removed = read.select({ leads: count() }).from(leads).where(theirs).get()?.leads ?? 0;
    try {
      await database.write([
        read.delete(leads).where(theirs),
        changedExactly(removed),
        // An undo that is interrupted must not be listed as if all leads were there.
        read.update(imports).set({ finishedAt: null }).where(undoable(number)),
      ]);
    } catch (cause) {
      // Another undo has removed some of them, or the import has added some.
      if (cause instanceof WriteRefused) continue;
      throw cause;
    }
    const tookMs = performance.now() - startedMs;
    size = nextSize(size, tookMs, steps);
    doneMs = toMs;
    yield removed;
    // Other writers poll for the lock, and would rarely find it free between two writes.
    await Bun.sleep(tookMs / 4);
  }
}

/** The time of the last lead of a step. Leads of other imports are passed in steps too. */
function endOfStep(
  { read }: LeadDatabase,
  account: Account,
  { afterMs, toMs }: { readonly afterMs: number; readonly toMs: number },
  size: number,
): number {
  const last = read
    .select({ ms: leads.identifiedAt })
    .from(leads)
    .where(between(account, afterMs, toMs))
    .orderBy(asc(leads.identifiedAt))
    .limit(1)
    .offset(size - 1)
    .get();
  return last?.ms ?? toMs;
}

function between({ number }: Account, afterMs: number, toMs: number): SQL | undefined {
  return and(eq(leads.account, number), gt(leads.identifiedAt, afterMs), lte(leads.identifiedAt, toMs));
}

const undoable = (number: number) =>
  and(eq(imports.number, number), eq(imports.overwritten, 0), isNull(imports.undoneAt));

/** True of a batch that can still be undone when the write is applied. */
const canUndo = (number: number) => sql`EXISTS (SELECT 1 FROM ${imports} WHERE ${undoable(number)})`;

interface Undone {
  readonly nowMs: number;
  readonly removed: number;
  /** The end of the import, as it was before the undo. */
  readonly finishedMs: number | null;
}

/** The statements that mark a batch as undone, unless its import has gone on since it was read. */
function markUndone({ id }: Account, { number, read }: Batch, { nowMs, removed, finishedMs }: Undone) {
  const unchanged = and(undoable(number), eq(imports.read, read));
  const detail = JSON.stringify({ import: number, leads: removed });
  return [
    sql`INSERT INTO ${audit} (at, act, account, detail)
        SELECT ${nowMs}, 'import.undo', ${id}, ${detail} FROM ${imports} WHERE ${unchanged}`,
    sql`UPDATE ${imports} SET undone_at = ${nowMs}, finished_at = ${finishedMs} WHERE ${unchanged}`,
  ];
}

/** The error of an import that replaced leads of other imports. */
export function hasReplaced(number: number): UserError {
  return new UserError(
    `Import ${number} replaced leads of other imports, whose content is not kept, so it cannot be undone.`,
    "If its file is still being imported, import it again when that is done. A backup from before has the old leads.",
  );
}
