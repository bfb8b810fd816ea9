/** The file that a restore replaces: it is locked for this process alone, and what must outlive it is read. */
import { existsSync, statSync } from "node:fs";
import { sql } from "drizzle-orm";
import type { Connection } from "../db/connection.ts";
import { codeOf, isDamaged, isLocked, underlying } from "../db/failure.ts";
import { lockWaitMs } from "../db/locks/lock-wait.ts";
import { StoreError } from "../store/errors.ts";
import { allParts, type Part } from "./carried-parts.ts";

/** What lies where the backup is put. One that is attached has its log folded in, and is locked for this process. */
export type Replaced = "attached" | "nothing there" | "unreadable";

/**
 * Attaches the file that is replaced, for this process alone, with its log folded in. SQLite leaves the WAL mode only
 * when no other process has the file open.
 */
export function attachReplaced(database: Connection, target: string): Replaced {
  if (!existsSync(target) || statSync(target).size === 0) return "nothing there";
  database.run(sql.raw(`PRAGMA busy_timeout = ${lockWaitMs.toLook}`));
  try {
    database.run(sql`ATTACH ${target} AS old`);
    database.run(sql`PRAGMA old.journal_mode = DELETE`);
    database.run(sql`PRAGMA old.locking_mode = EXCLUSIVE`);
    database.run(sql`BEGIN EXCLUSIVE`);
    database.run(sql`COMMIT`);
    return "attached";
  } catch (failure) {
    if (isLocked(failure)) return refuseOpen(target);
    // SQLite gives no code of its own for a file whose first bytes it does not know.
    if (codeOf(failure) === "SQLITE_ERROR" || isUnreadable(failure)) return "unreadable";
    throw underlying(failure);
  }
}

/** Refuses to replace a file that another process has open. */
export function refuseOpen(path: string): never {
  throw new StoreError({ kind: "database in use", path });
}

/** The parts of the old file that are brought over, and those that cannot be read. */
interface Carried {
  readonly readable: readonly Part[];
  readonly unread: readonly Part[];
}

/** Often the old file is damaged, which is why somebody restores. So each part of it is tried by itself. */
export function examineReplaced(database: Connection, attached: Replaced): Carried {
  if (attached === "nothing there") return { readable: [], unread: [] };
  const tables =
    attached === "attached" ? attempt(() => database.values<[string]>(sql`SELECT name FROM old.sqlite_schema`)) : null;
  if (tables === null) return { readable: [], unread: allParts };
  const names = new Set(tables.map(([name]) => name));
  const there = allParts.filter(({ tables }) => tables.every((table) => names.has(table)));
  const isSound = (table: string) =>
    attempt(() => database.values<[string]>(sql.raw(`PRAGMA old.integrity_check('${table}')`)))?.[0]?.[0] === "ok";
  const readable = there.filter(({ tables }) => tables.every(isSound));
  return { readable, unread: there.filter((part) => !readable.includes(part)) };
}

/** Whether the old file has a history with the backup, so that it knows what was done since. Ask before anything is merged. */
export function isOfSameInstance(database: Connection, { readable }: Carried): boolean {
  if (!readable.some(({ tables }) => tables.includes("instances"))) return false;
  const shared = sql`SELECT 1 FROM old.instances JOIN main.instances USING (id)`;
  return database.values(shared).length > 0;
}

/** Null where the file that is replaced could not be read. */
function attempt<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (failure) {
    if (isUnreadable(failure)) return null;
    throw failure;
  }
}

/** Whether a file is damaged, or the disk below it. */
function isUnreadable(failure: unknown): boolean {
  return isDamaged(failure) || codeOf(failure) === "SQLITE_IOERR_READ";
}
