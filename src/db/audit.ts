/** The audit: what was done to the database, when, and to which account. It never says who was found or erased. */
import { desc, eq, type SQL } from "drizzle-orm";
import { printMessage } from "../runtime/process.ts";
import type { Connection, LeadDatabase } from "./connection.ts";
import { codeOf, innermost, isFull } from "./failure.ts";
import { type Act, audit } from "./schema.ts";

/** One act, without personal data. */
export interface AuditEntry {
  readonly atMs: number;
  readonly act: Act;
  /** The ID of the account; null for what is done to the whole file. */
  readonly account: string | null;
  /** Counts and IDs. */
  readonly detail: Readonly<Record<string, string | number | null>>;
}

/** The statement that records an act, for the transaction of the act. */
export function insertAct(database: Pick<Connection, "insert">, { atMs, act, account, detail }: AuditEntry) {
  return database.insert(audit).values({ at: atMs, act, account, detail: JSON.stringify(detail) });
}

/** Records an act that only reads, such as an `export`. A disk that is full or read-only does not stop it: a warning says that no record was made. */
export async function recordReading(database: LeadDatabase, what: string, entry: AuditEntry): Promise<void> {
  try {
    await database.write([insertAct(database.read, entry)]);
  } catch (cause) {
    if (!isFull(cause) && !codeOf(cause).startsWith("SQLITE_READONLY")) throw cause;
    warnUnrecorded(what, cause);
  }
}

/** Says that the audit has no record of what was done, and why. */
export function warnUnrecorded(what: string, failure: unknown): void {
  printMessage(`Warning: the audit log has no record of the ${what} (${innermost(failure)}).`);
}

/** The last recorded act that meets a condition, or of all. It has the highest number: a clock may be set back. */
export function lastAct(database: Connection, condition?: SQL): { number: number; atMs: number } | undefined {
  const acts = database.select({ number: audit.number, atMs: audit.at }).from(audit).where(condition);
  return acts.orderBy(desc(audit.number)).limit(1).get();
}

/** Lists the newest acts first, at most `max` of them. An account of null means all accounts. */
export function listActs(read: Connection, max: number, account: string | null): AuditEntry[] {
  return read
    .select({ atMs: audit.at, act: audit.act, account: audit.account, detail: audit.detail })
    .from(audit)
    .where(account === null ? undefined : eq(audit.account, account))
    .orderBy(desc(audit.number))
    .limit(max)
    .all()
    .map((row) => ({ ...row, detail: JSON.parse(row.detail) })); // As insertAct wrote it.
}
