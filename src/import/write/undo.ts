/** A batch is taken back: exactly the leads that it added, and nothing that came before or since. */
import { and, asc, eq, gt, lte, type SQL } from "drizzle-orm";
import { recordAct } from "../../db/audit.ts";
import { type Connection, changedRows, closing } from "../../db/connection.ts";
import { inLargeTransactions, type Portions } from "../../db/locks/large-transactions.ts";
import { enlargeCache, openForImport } from "../../db/open.ts";
import { imports, leads } from "../../db/schema.ts";
import { truncateWal } from "../../db/wal.ts";
import { StoreError } from "../../store/errors.ts";
import type { Batch } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Account } from "../../store/repositories.ts";
import { findBatch } from "./batches.ts";

/** A step looks at this many leads and deletes those of the batch, which takes a few hundredths of a second. */
const leadsAtOnce = 300;

/** Each step tells how many leads are gone, and is on the disk. Cut short and begun again, it completes. */
export async function* undoBatch(path: string, account: Account, batch: Batch, nowMs: number): AsyncGenerator<number> {
  using database = closing(openForImport(path));
  enlargeCache(database);
  const { portions, removed } = takeBack(database, account, batch, nowMs);
  for await (const _ of inLargeTransactions(database, portions)) yield removed();
  // What was deleted is written over in the file; the log still has it.
  truncateWal(database);
}

function takeBack(database: Connection, account: Account, asked: Batch, nowMs: number) {
  const { number } = asked;
  let batch = asked;
  let doneMs = justBefore(batch);
  let removed = 0;
  const portions: Portions = {
    begin() {
      const known = batch;
      batch = findBatch(database, account.number, number) ?? known;
      if (batch.overwritten > 0) throw new StoreError({ kind: "undo overtaken", number });
      // An import that still runs has added leads since, also where this has been.
      if (batch.read !== known.read) doneMs = justBefore(batch);
    },
    step() {
      const { oldestMs, newestMs } = batch;
      if (oldestMs === null || newestMs === null) return false;
      const toMs = endOfPortion(database, between(account.number, doneMs, newestMs)) ?? newestMs;
      removed += remove(database, and(between(account.number, doneMs, toMs), eq(leads.import, number)));
      doneMs = toMs;
      return toMs < newestMs;
    },
    end(isDone) {
      // Cut short, it must not be listed as if all of it were there.
      const state = isDone ? { undoneAt: nowMs, finishedAt: asked.finishedMs } : { finishedAt: null };
      database.update(imports).set(state).where(eq(imports.number, number)).run();
      if (!isDone) return;
      const detail = { import: number, leads: removed };
      recordAct(database, { atMs: nowMs, act: "import.undo", account: account.id, detail });
    },
  };
  return { portions, removed: () => removed };
}

function justBefore({ oldestMs }: Batch): number {
  return (oldestMs ?? 0) - 1;
}

/** The leads of an account after one moment, up to and including another. */
function between(account: AccountNumber, afterMs: number, toMs: number): SQL | undefined {
  return and(eq(leads.account, account), gt(leads.identifiedAt, afterMs), lte(leads.identifiedAt, toMs));
}

/** The moment of the last of the next few leads, of any batch: leads of others are passed in portions, too. */
function endOfPortion(database: Connection, following: SQL | undefined): number | null {
  const last = database
    .select({ ms: leads.identifiedAt })
    .from(leads)
    .where(following)
    .orderBy(asc(leads.identifiedAt))
    .limit(1)
    .offset(leadsAtOnce - 1)
    .get();
  return last?.ms ?? null;
}

function remove(database: Connection, those: SQL | undefined): number {
  database.delete(leads).where(those).run();
  return changedRows(database);
}
