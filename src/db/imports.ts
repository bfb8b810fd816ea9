/** Imports: the source of each, and the result for its rows. */
import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { AccountNumber } from "./accounts.ts";
import type { Connection } from "./connection.ts";
import { imports } from "./schema.ts";

/** The rows of an import by their result. */
type BatchCounts = Readonly<
  Record<"read" | "imported" | "duplicates" | "replaced" | "moved" | "late" | "suppressed" | "rejected", number>
>;

/** An import as `import list` shows it. */
export interface Batch extends BatchCounts {
  readonly number: number;
  readonly startedMs: number;
  /** Null while the import runs, and if it was interrupted. */
  readonly finishedMs: number | null;
  readonly file: string;
  readonly by: string;
  /** The times of the oldest and the newest lead that it added; null if it added none. */
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
  /** The number of leads of other imports that it replaced. An import with any cannot be undone. */
  readonly overwritten: number;
  /** The time at which it was undone; null if it was not. */
  readonly undoneMs: number | null;
}

const { account, rejectsFile, layout, at, finishedAt, oldest, newest, undoneAt, ...others } = getTableColumns(imports);
const times = { startedMs: at, finishedMs: finishedAt, oldestMs: oldest, newestMs: newest, undoneMs: undoneAt };
const columns = { ...times, ...others };

/** True of imports that added or replaced leads. Other imports have a row only to name their rejects file. */
export const hasBrought = sql`${imports.imported} + ${imports.replaced} > 0`;

/** Returns the batches of an account that added or replaced leads, newest first. */
export function listBatches(database: Connection, account: AccountNumber): Batch[] {
  const theirs = and(eq(imports.account, account), hasBrought);
  return database.select(columns).from(imports).where(theirs).orderBy(desc(imports.number)).all();
}

/** Returns a batch of an account by its number, or null. */
export function findBatch(database: Connection, account: AccountNumber, number: number): Batch | null {
  const one = and(eq(imports.account, account), eq(imports.number, number), hasBrought);
  return database.select(columns).from(imports).where(one).get() ?? null;
}

/** Returns whether an account has imported a file with the same columns. */
export function isKnownLayout(database: Connection, account: AccountNumber, hash: string): boolean {
  const one = and(eq(imports.account, account), eq(imports.layout, hash));
  return database.select({ number: imports.number }).from(imports).where(one).get() !== undefined;
}
