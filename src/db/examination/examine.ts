/** Looks at a database file in whatever state it is, without changing it or making files beside it. */
import { constants, Database, SQLiteError } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { shmOf, walOf } from "../database-files.ts";
import { isSqlite, sizeOf } from "../file.ts";
import { lockWaitMs } from "../locks/requesting-database.ts";
import { lastBuild, migrationsBehind, type Unusable } from "../schema-version.ts";
import { type Contents, readContents } from "./contents.ts";

/** What was found. */
export type Examination =
  | { readonly kind: "missing" }
  /** The system does not let this user read it. */
  | { readonly kind: "unreadable"; readonly reason: string }
  /** No SQLite file, or too damaged to be read. */
  | { readonly kind: "no database"; readonly reason: string }
  /** Another program or another build wrote it. */
  | { readonly kind: "unusable"; readonly why: Unusable; readonly build: string }
  /** Its log is not empty, and only a program that may write can copy it into the file. */
  | { readonly kind: "unfinished"; readonly logBytes: number }
  | { readonly kind: "read"; readonly contents: Contents };

/** Examines the file at a path; `full` compares every index with its table as well. */
export function examineFile(path: string, full: boolean): Examination {
  if (!existsSync(path)) return { kind: "missing" };
  try {
    if (!isSqlite(path)) return { kind: "no database", reason: "it does not begin as one" };
  } catch (cause) {
    return { kind: "unreadable", reason: cause instanceof Error ? cause.message : "unknown error" };
  }
  const logBytes = sizeOf(walOf(path));
  if (logBytes > 0 && !existsSync(shmOf(path))) return { kind: "unfinished", logBytes };
  try {
    return examineWhileStill(path, full);
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause;
    // A full disk has no room for the index of the log. The file is sound, and nobody should replace it for that.
    const isTrouble = /^SQLITE_(?:IOERR|CANTOPEN|FULL|BUSY)/.test(cause.code ?? "");
    return { kind: isTrouble ? "unreadable" : "no database", reason: cause.message };
  }
}

/** Where nobody has the file open it is read without locks. If somebody opened it meanwhile it is read again. */
function examineWhileStill(path: string, full: boolean): Examination {
  const before = statSync(path).mtimeMs;
  const isOpen = existsSync(walOf(path));
  const found = examineOnce(path, isOpen, full);
  const disturbed = !isOpen && (existsSync(walOf(path)) || statSync(path).mtimeMs !== before);
  return disturbed ? examineOnce(path, true, full) : found;
}

function examineOnce(path: string, isOpen: boolean, full: boolean): Examination {
  // Opened as usual, SQLite would make a log and its index beside the file, and leave them to whoever started it.
  const url = pathToFileURL(path);
  if (!isOpen) url.searchParams.set("immutable", "1");
  using client = new Database(url.href, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  client.run(`PRAGMA busy_timeout = ${lockWaitMs.toLook}`);
  const database = drizzle({ client });
  const behind = migrationsBehind(database);
  if (typeof behind !== "number") return { kind: "unusable", why: behind, build: lastBuild(database) };
  return { kind: "read", contents: readContents(database, behind, full) };
}
