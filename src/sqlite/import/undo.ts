/** A batch is taken back: exactly the leads that it added, and nothing that came before or since. */
import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import type { Batch } from "../../store/batches.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Account } from "../../store/repositories.ts";
import { recordAct } from "../audit.ts";
import type { Connection } from "../connection.ts";
import { inLargeTransactions, type Portions } from "../locks/large-transactions.ts";
import { openForImport } from "../open.ts";
import { imports, leads } from "../schema.ts";
import { truncateWal } from "../wal.ts";

/** Of so many leads those of the batch are deleted at once, which takes a few hundredths of a second. */
const leadsAtOnce = 300;

/** Each step tells how many leads are gone, and is on the disk. Cut short and begun again, it completes. */
export async function* undoBatch(path: string, account: Account, batch: Batch, nowMs: number): AsyncGenerator<number> {
  const database = openForImport(path);
  try {
    const { portions, removed } = takeBack(database, account, batch, nowMs);
    for await (const _ of inLargeTransactions(database, portions)) yield removed();
    // What was deleted is written over in the file; the log still has it.
    truncateWal(database);
  } finally {
    database.$client.close();
  }
}

function takeBack(database: Connection, account: Account, { number, oldestMs, newestMs }: Batch, nowMs: number) {
  let doneMs = (oldestMs ?? 0) - 1;
  let removed = 0;
  const portions: Portions = {
    begin: () => undefined,
    step() {
      if (oldestMs === null || newestMs === null) return false;
      const toMs = endOfPortion(database, account.number, doneMs, newestMs);
      removed += removeBetween(database, { account: account.number, batch: number, fromMs: doneMs, toMs });
      doneMs = toMs;
      return toMs < newestMs;
    },
    end(isDone) {
      if (!isDone) return;
      database.update(imports).set({ undoneAt: nowMs }).where(eq(imports.number, number)).run();
      const detail = { import: number, leads: removed };
      recordAct(database, { atMs: nowMs, act: "import.undo", account: account.id, detail });
    },
  };
  return { portions, removed: () => removed };
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

interface Stretch {
  readonly account: AccountNumber;
  readonly batch: number;
  /** The moment before the first. */
  readonly fromMs: number;
  readonly toMs: number;
}

function removeBetween(database: Connection, { account, batch, fromMs, toMs }: Stretch): number {
  const between = and(eq(leads.account, account), gt(leads.identifiedAt, fromMs), lte(leads.identifiedAt, toMs));
  const ofBatch = and(between, eq(leads.import, batch));
  database.delete(leads).where(ofBatch).run();
  return database.values<[number]>(sql`SELECT changes()`)[0]?.[0] ?? 0;
}
