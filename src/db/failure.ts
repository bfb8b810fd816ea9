/** What SQLite and the system say of a failure, and what that means. */
import { SQLiteError } from "bun:sqlite";
import { DrizzleError } from "drizzle-orm";
import { type Problem, StoreError } from "../store/errors.ts";

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

/** Whether a file is no database, or is damaged so much that it is none any more. */
export function isDamaged(failure: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(codeOf(failure));
}

/** What SQLite or the system said; null of any other error. */
export function saidBy(cause: unknown): string | null {
  return cause instanceof Error && (cause instanceof SQLiteError || codeOf(cause) !== "") ? cause.message : null;
}

/** A failure as the StoreError of its problem; one that is none as it is. */
export function asStoreError(failure: unknown, problemOf: (cause: unknown) => Problem | null): unknown {
  const cause = underlying(failure);
  const problem = problemOf(cause);
  return problem === null ? cause : new StoreError(problem, { cause });
}

/** A failure of SQLite or the system at a path as a StoreError; any other error as it is. */
export function storeErrorOf(failure: unknown, path: string): unknown {
  return asStoreError(failure, (cause) => problemOf(cause, path));
}

function problemOf(cause: unknown, path: string): Problem | null {
  if (cause instanceof SQLiteError) {
    if (codeOf(cause) === "SQLITE_NOTADB") return { kind: "not a database", path };
    if (isDamaged(cause)) return { kind: "file damaged", path, reason: cause.message };
    if (isLocked(cause)) return { kind: "locked for too long", path };
    if (isFull(cause)) return { kind: "disk full", path };
    return { kind: "database unusable", path, reason: cause.message };
  }
  if (cause instanceof Error && "syscall" in cause) return { kind: "file unreachable", path, reason: cause.message };
  return null;
}
