/** What SQLite and the system say of a failure, and what that means. */
import { DrizzleError } from "drizzle-orm";

/** What SQLite or the system said, out of what Drizzle has put around it. */
export function underlying(failure: unknown): unknown {
  return failure instanceof DrizzleError ? underlying(failure.cause) : failure;
}

/** The code of a failure, such as `SQLITE_BUSY` or `EEXIST`; empty where it has none. */
export function codeOf(failure: unknown): string {
  const cause = underlying(failure);
  return cause instanceof Error && "code" in cause ? String(cause.code ?? "") : "";
}

/** Whether there was no room: on the disk, within the quota of a user, or for a file of that size. */
export function isFull(failure: unknown): boolean {
  return ["SQLITE_FULL", "ENOSPC", "EDQUOT", "EFBIG"].includes(codeOf(failure));
}

/** Whether another program held a lock for too long. */
export function isLocked(failure: unknown): boolean {
  return codeOf(failure).startsWith("SQLITE_BUSY");
}

/** Whether a file is no database, or one no longer. */
export function isDamaged(failure: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(codeOf(failure));
}
