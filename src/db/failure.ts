/** Failures of SQLite and the system, and their messages for people. */
import { SQLiteError } from "bun:sqlite";
import { statSync } from "node:fs";
import { DrizzleError } from "drizzle-orm";
import { adminCommand } from "../runtime/program-name.ts";
import { printable, UserError } from "../runtime/user-error.ts";
import { DatabaseUnavailable } from "./connection.ts";

/** Returns the error of SQLite or the system in an error of Drizzle. */
export function underlying(failure: unknown): unknown {
  return failure instanceof DrizzleError ? underlying(failure.cause) : failure;
}

/** The code of a failure, such as `SQLITE_BUSY` or `EEXIST`; empty where it has none. */
export function codeOf(failure: unknown): string {
  const cause = underlying(failure);
  return cause instanceof Error && "code" in cause ? String(cause.code ?? "") : "";
}

/** Returns whether SQLite, the system, or a cluster failed, and not the code: clients get `query_failed` then (§7). */
export function isDatabaseFailure(failure: unknown): boolean {
  const cause = underlying(failure);
  return cause instanceof DatabaseUnavailable || isOfSqliteOrSystem(cause);
}

function isOfSqliteOrSystem(cause: unknown): cause is Error {
  // Bun gives some errors of the system, such as ENAMETOOLONG, no `syscall`.
  return cause instanceof SQLiteError || (cause instanceof Error && /^E(?!RR_)/.test(codeOf(cause)));
}

/** Returns whether there was no room: on the disk, within the quota of a user, or for a file of that size. */
export function isFull(failure: unknown): boolean {
  return ["SQLITE_FULL", "ENOSPC", "EDQUOT", "EFBIG"].includes(codeOf(failure));
}

/** Returns whether another program kept a lock for too long. */
export function isLocked(failure: unknown): boolean {
  return codeOf(failure).startsWith("SQLITE_BUSY");
}

/** Returns whether a file is not a database, or is too damaged to be one. */
export function isDamaged(failure: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(codeOf(failure));
}

/**
 * A failure of SQLite or the system at a path as a DatabaseUnavailable, which says what to do; any other error as it is.
 */
export function explainFailure(failure: unknown, path: string): unknown {
  const cause = underlying(failure);
  const words = wordsFor(cause, path);
  return words === null ? cause : new DatabaseUnavailable(...words, 1, { cause });
}

function wordsFor(cause: unknown, path: string): readonly [what: string, advice: string] | null {
  if (!isOfSqliteOrSystem(cause)) return null;
  if (codeOf(cause) === "SQLITE_NOTADB") return [`${path} is not a Leadfile database.`, anotherFile];
  if (isDamaged(cause)) {
    const advice = `Copy it, then replace it with a backup: ${adminCommand} restore FILE. For details, run: ${adminCommand} doctor`;
    return [`${path} is damaged (${cause.message}).`, advice];
  }
  if (isLocked(cause)) return [`Another program has locked ${path}.`, "Stop it, then run the command again."];
  if (isFull(cause)) return [`The disk of ${path} is full.`, "Free some space, then run the command again."];
  const advice = "Check that the folder exists, that this user may write to it, and that the disk is not full.";
  return [`${path} cannot be opened or written (${cause.message}).`, advice];
}

const anotherFile = "Set DATABASE_PATH to another file, or move this one away.";

/**
 * Returns the result of a function, or a fallback if SQLite or the system fails, or if a text cannot be parsed: for what may be
 * missing, unreadable, or damaged. Throws every other error, which is a mistake of ours.
 */
export function orElse<Result>(read: () => Result, fallback: Result): Result {
  try {
    return read();
  } catch (cause) {
    if (isDatabaseFailure(cause) || cause instanceof SyntaxError || cause instanceof URIError) return fallback;
    throw cause;
  }
}

/** The failure at the bottom, for the log: the layers around it may quote a statement and its values. */
export function innermost(failure: unknown): string {
  let inner = failure;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  if (inner instanceof UserError) return inner.sentence;
  return inner instanceof Error ? `${inner.name}: ${inner.message}` : "an error that is not an Error";
}

/** The refusal of a server that stops and could not write what it has counted. */
export function lastCountsLost(reason: string): UserError {
  return new UserError(
    `The last request counts and the record of which key received which leads were lost (${reason}).`,
    "Check that the disk has space, that no other program locks the file, and that a majority of the nodes of a cluster runs.",
  );
}

/** The refusal of a command that needs a database, where there is none. */
export function noDatabase(databasePath: string): UserError {
  try {
    statSync(databasePath, { throwIfNoEntry: false });
  } catch (cause) {
    const advice = "Run the command as the user of the server (leadfile-admin does), or correct DATABASE_PATH.";
    return new UserError(`${printable(databasePath)} cannot be read (${codeOf(cause)}).`, advice);
  }
  const create = `${adminCommand} account create NAME`;
  return new UserError(
    `There is no database at ${printable(databasePath)} yet.`,
    `To create one: ${create}. If it is elsewhere, set DATABASE_PATH.`,
  );
}
