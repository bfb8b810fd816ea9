/** The imports that there were: what each brought, and what became of it. */
import { and, desc, eq, getTableColumns, max, sql } from "drizzle-orm";
import type { Connection } from "../../db/connection.ts";
import { imports } from "../../db/schema.ts";
import type { Batch } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";

// All of a row but whose it is, and where its rejected rows lie.
const { account, rejectsFile, at, finishedAt, oldest, newest, undoneAt, ...others } = getTableColumns(imports);
const moments = { startedMs: at, finishedMs: finishedAt, oldestMs: oldest, newestMs: newest, undoneMs: undoneAt };
const columns = { ...moments, ...others };

/** Of the others nothing is kept but where they have written rejected rows. */
export const hasBrought = sql`${imports.imported} + ${imports.replaced} > 0`;

/** The batches of an account that added or replaced leads, newest first. */
export function listBatches(database: Connection, account: AccountNumber): Batch[] {
  const theirs = and(eq(imports.account, account), hasBrought);
  return database.select(columns).from(imports).where(theirs).orderBy(desc(imports.number)).all();
}

export function findBatch(database: Connection, account: AccountNumber, number: number): Batch | null {
  const one = and(eq(imports.account, account), eq(imports.number, number), hasBrought);
  return database.select(columns).from(imports).where(one).get() ?? null;
}

/** Prepares the look at the last import that is done and brought leads: Unix milliseconds, or null where none is. */
export function openLastImport(database: Connection): () => number | null {
  const last = database
    .select({ ms: max(imports.finishedAt) })
    .from(imports)
    .where(hasBrought)
    .prepare();
  return () => last.get()?.ms ?? null;
}
