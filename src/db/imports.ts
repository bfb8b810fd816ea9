/** Imports: the source of each, and the result for its rows. */
import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { AccountNumber } from "./accounts.ts";
import type { Connection } from "./connection.ts";
import { imports } from "./schema.ts";

/** An import as `import list` shows it. */
export type StoredImport = Readonly<ReturnType<typeof listImports>[number]>;

const { account, rejectsFile, layout, at, finishedAt, oldest, newest, undoneAt, ...others } = getTableColumns(imports);
const times = { startedMs: at, finishedMs: finishedAt, oldestMs: oldest, newestMs: newest, undoneMs: undoneAt };
const columns = { ...times, ...others };

/** True of imports that added or replaced leads. Other imports have a row only to name their rejects file. */
export const hasBrought = sql`${imports.imported} + ${imports.replaced} > 0`;

/** Returns the imports of an account that added or replaced leads, newest first. */
export function listImports(database: Connection, account: AccountNumber) {
  const theirs = and(eq(imports.account, account), hasBrought);
  return database.select(columns).from(imports).where(theirs).orderBy(desc(imports.number)).all();
}

/** Returns an import of an account by its number, or null. */
export function findImport(database: Connection, account: AccountNumber, number: number): StoredImport | null {
  const one = and(eq(imports.account, account), eq(imports.number, number), hasBrought);
  return database.select(columns).from(imports).where(one).get() ?? null;
}

/** Returns whether an account has imported a file with the same columns. */
export function isKnownLayout(database: Connection, account: AccountNumber, hash: string): boolean {
  const one = and(eq(imports.account, account), eq(imports.layout, hash));
  return database.select({ number: imports.number }).from(imports).where(one).get() !== undefined;
}
