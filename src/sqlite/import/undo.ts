/** A batch is taken back: exactly the leads that it added, and nothing that came before or since. */
import { and, asc, eq, gt, lte } from "drizzle-orm";
import type { Batch } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Account } from "../../store/repositories.ts";
import { recordAct } from "../audit.ts";
import type { Connection } from "../connection.ts";
import { inLargeTransactions } from "../large-transactions.ts";
import { imports, leads } from "../schema.ts";
import { truncateWal } from "../wal.ts";

/** Of so many leads those of the batch are deleted at once, which takes a few hundredths of a second. */
const leadsAtOnce = 300;

/** Each step tells how many leads are gone, and is on the disk. Cut short and begun again, it completes. */
export async function* undoBatch(
  database: Connection,
  account: Account,
  batch: Batch,
  nowMs: number,
): AsyncGenerator<number> {
  const { oldestMs, newestMs } = batch;
  let doneMs = oldestMs === null ? null : oldestMs - 1;
  let removed = 0;
  const work = {
    begin: () => undefined,
    step() {
      if (doneMs === null || newestMs === null) return false;
      const toMs = endOfPortion(database, account.number, doneMs, newestMs);
      removed += removeBetween(database, account.number, batch.number, doneMs, toMs);
      doneMs = toMs;
      return toMs < newestMs;
    },
    end(isDone: boolean) {
      if (!isDone) return;
      database.update(imports).set({ undoneAt: nowMs }).where(eq(imports.number, batch.number)).run();
      const detail = { import: batch.number, leads: removed };
      recordAct(database, { atMs: nowMs, act: "import.undo", account: account.id, detail });
    },
  };
  for await (const _ of inLargeTransactions(database, work)) yield removed;
  // What was deleted is written over in the file; the log still has it.
  truncateWal(database);
}

/** The moment up to which the next few leads lie, of whatever batch: a long stretch of others is not walked at once. */
function endOfPortion(database: Connection, account: AccountNumber, fromMs: number, newestMs: number): number {
  const within = and(eq(leads.account, account), gt(leads.identifiedAt, fromMs), lte(leads.identifiedAt, newestMs));
  const last = database
    .select({ ms: leads.identifiedAt })
    .from(leads)
    .where(within)
    .orderBy(asc(leads.identifiedAt))
    .limit(1)
    .offset(leadsAtOnce - 1)
    .get();
  return last?.ms ?? newestMs;
}

function removeBetween(
  database: Connection,
  account: AccountNumber,
  batch: number,
  fromMs: number,
  toMs: number,
): number {
  const between = and(eq(leads.account, account), gt(leads.identifiedAt, fromMs), lte(leads.identifiedAt, toMs));
  const ofBatch = and(between, eq(leads.import, batch));
  // Drizzle types it as nothing, but hands on the count of Bun.
  const result = database.delete(leads).where(ofBatch).run() as unknown as { readonly changes: number };
  return result.changes;
}
