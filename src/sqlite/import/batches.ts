/** Every import is a batch: what came, from where, and what of it was added. Its leads know its number. */
import { and, desc, eq, isNotNull, isNull, max } from "drizzle-orm";
import { StoreError } from "../../store/errors.ts";
import type { Batch, ImportCounts, ImportOrigin } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { imports } from "../schema.ts";

/** A batch while it is written. */
export interface BatchRecord extends ImportOrigin {
  number: number;
  readonly account: AccountNumber;
  /** Whether it has a row: it gets one with the first lead that it adds or replaces. */
  isThere: boolean;
  oldestMs: number | null;
  newestMs: number | null;
}

/** To be called within the transaction that writes it. */
export function nextBatch(database: Connection): number {
  const last = database
    .select({ number: max(imports.number) })
    .from(imports)
    .get()?.number;
  return (last ?? 0) + 1;
}

/** Writes how far a batch is, in the transaction that brought it there. */
export function recordBatch(
  database: Connection,
  record: BatchRecord,
  counts: Readonly<ImportCounts>,
  finishedMs: number | null,
): void {
  if (counts.imported + counts.replaced === 0) return;
  const { number, account, file, by, rejectsFile, startedMs, oldestMs, newestMs } = record;
  const known = { ...counts, finishedAt: finishedMs, oldest: oldestMs, newest: newestMs };
  if (record.isThere) {
    const mine = and(eq(imports.number, number), isNull(imports.undoneAt));
    const found = database.update(imports).set(known).where(mine).returning({ number: imports.number }).all();
    if (found.length === 0) throw new StoreError({ kind: "import undone meanwhile", number });
    return;
  }
  database
    .insert(imports)
    .values({ number, account, at: startedMs, file, by, rejectsFile, ...known })
    .run();
  record.isThere = true;
}

const columns = {
  number: imports.number,
  startedMs: imports.at,
  finishedMs: imports.finishedAt,
  file: imports.file,
  by: imports.by,
  oldestMs: imports.oldest,
  newestMs: imports.newest,
  undoneMs: imports.undoneAt,
  read: imports.read,
  imported: imports.imported,
  duplicates: imports.duplicates,
  replaced: imports.replaced,
  moved: imports.moved,
  late: imports.late,
  suppressed: imports.suppressed,
  rejected: imports.rejected,
};

/** The batches of an account, newest first. */
export function listBatches(database: Connection, account: AccountNumber): Batch[] {
  return database.select(columns).from(imports).where(eq(imports.account, account)).orderBy(desc(imports.number)).all();
}

export function findBatch(database: Connection, account: AccountNumber, number: number): Batch | null {
  const one = and(eq(imports.account, account), eq(imports.number, number));
  return database.select(columns).from(imports).where(one).get() ?? null;
}

/** Prepares the look at the last import that is done and brought leads: Unix milliseconds, or null where none is. */
export function openLastImport(database: Connection): () => number | null {
  const last = database
    .select({ ms: imports.finishedAt })
    .from(imports)
    .where(isNotNull(imports.finishedAt))
    .orderBy(desc(imports.number))
    .limit(1)
    .prepare();
  return () => last.get()?.ms ?? null;
}
