/** Looks at a database file in whatever state it is, without changing it or creating files next to it. */
import { constants } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { and, count, eq, exists, getTableName, getViewName, inArray, is, isNull, max, sql } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { adminCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { lastAct } from "./audit.ts";
import { type Connection, connectTo } from "./connection.ts";
import { isSqlite, shmOf, sizeOf, walOf } from "./database-files.ts";
import { countDueLeads, listKeepingAccounts, listNewerLeads } from "./due-leads.ts";
import { codeOf, isDatabaseFailure, noDatabase, underlying } from "./failure.ts";
import { hasBrought } from "./imports.ts";
import { listKeys } from "./keys.ts";
import { lockWaitMs } from "./locks.ts";
import { refuseUnusable } from "./migrate.ts";
import { instanceOf } from "./open.ts";
import { readableLeads } from "./readable-leads.ts";
import * as schema from "./schema.ts";
import { type Act, accounts, audit, imports, keys, leads, sources, usage } from "./schema.ts";

/** The log of a file is not empty, and only a program that may write can copy it into the file. */
export class UnfinishedLog extends UserError {}

/** Examines the file at a path; `full` compares every index with its table as well. Returns a UserError if it cannot be read. */
export function examineFile(path: string, full: boolean, nowMs: number): Contents | UserError {
  if (!existsSync(path)) return noDatabase(path);
  try {
    if (!isSqlite(path)) return notDatabase(path, "it has no SQLite header");
    if (sizeOf(walOf(path)) > 0 && !existsSync(shmOf(path))) {
      const advice = `As the owner of the file, start the server, or run ${adminCommand} account list. Then run doctor again.`;
      return new UnfinishedLog(`${walOf(path)} has not been checkpointed, so the database was not read.`, advice);
    }
    return examineUndisturbed(path, full, nowMs);
  } catch (cause) {
    if (cause instanceof UserError) return cause;
    const failure = underlying(cause);
    if (!isDatabaseFailure(failure) || !(failure instanceof Error)) throw cause;
    // A full disk has no room for the index of the log. The file is sound, and nobody should replace it for that.
    const isSound = !/^SQLITE_(?!IOERR|CANTOPEN|FULL|BUSY)/.test(codeOf(failure));
    if (!isSound) return notDatabase(path, failure.message);
    const advice = "Run the command as the owner of the file, and check the disk.";
    return new UserError(`${path} cannot be read (${failure.message}).`, advice);
  }
}

function notDatabase(path: string, reason: string): UserError {
  return new UserError(
    `${path} is not a database, or it is damaged (${reason}). Without a backup, sqlite3 may recover some of it.`,
    `Move it away, and restore a backup: ${adminCommand} restore FILE`,
  );
}

/** If nobody has the file open, it is read without locks, and read again if somebody opened it in the meantime. */
function examineUndisturbed(path: string, full: boolean, nowMs: number): Contents {
  const before = statSync(path).mtimeMs;
  const isOpen = existsSync(walOf(path));
  const found = examineOnce(path, isOpen, full, nowMs);
  const isDisturbed = !isOpen && (existsSync(walOf(path)) || statSync(path).mtimeMs !== before);
  return isDisturbed ? examineOnce(path, true, full, nowMs) : found;
}

function examineOnce(path: string, isOpen: boolean, full: boolean, nowMs: number): Contents {
  // Opened as usual, SQLite would create a log and its index next to the file, owned by the user of this command.
  const url = pathToFileURL(path);
  if (!isOpen) url.searchParams.set("immutable", "1");
  using database = connectTo(url.href, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  database.run(`PRAGMA busy_timeout = ${lockWaitMs.toLook}`);
  return readContents(database, refuseUnusable(database, path), full, nowMs);
}

/** The contents of a file that can be read. */
export type Contents = ReturnType<typeof readContents>;
export type AccountInflow = Contents["inflows"][number];

function readContents(database: Connection, migrationsBehind: number, full: boolean, nowMs: number) {
  const damage = check(database, full);
  const lost = migrationsBehind === 0 ? lostParts(database) : [];
  // A broken or older file may lack tables that these questions need.
  const isWhole = damage.length === 0 && lost.length === 0 && migrationsBehind === 0;
  const lastActMs = (...acts: Act[]) => lastAct(database, inArray(audit.act, acts))?.atMs ?? null;
  return {
    /** The number of migrations that the next start will apply. */
    migrationsBehind,
    /** The first lines of SQLite's integrity check; empty if all is well. */
    damage,
    /** Tables and indexes that are missing. */
    lost,
    /** The newest timestamp in the file, in Unix milliseconds. */
    newestMs: isWhole ? newestMs(database) : null,
    leads: isWhole ? (database.select({ count: count() }).from(leads).get()?.count ?? 0) : 0,
    /** The ID of the instance whose database this is; null if it cannot be read. */
    instance: isWhole ? instanceOf(database) : null,
    lastBackupMs: isWhole ? lastActMs("backup", "backup.verified") : null,
    inflows: isWhole ? listInflows(database) : [],
    keys: isWhole ? listKeys(database) : [],
    /** The accounts with leads that their retention would erase now. */
    due: isWhole ? listDue(database, nowMs) : [],
    /** The accounts with leads that are newer than the clock, and how many they have. */
    newer: isWhole ? listNewerLeads(database, nowMs + toleranceMs) : [],
  };
}

/** An import takes a time this far ahead of the clock as now. */
export const toleranceMs = 5 * 60_000;
const maxLines = 5;

function listDue(database: Connection, nowMs: number) {
  const keeping = listKeepingAccounts(database).map((account) => ({
    ...account,
    ...countDueLeads(database, account, nowMs),
  }));
  return keeping.filter(({ older }) => older > 0);
}

function check(database: Connection, full: boolean): string[] {
  const name = full ? "integrity_check" : "quick_check";
  const lines = database.values<[string]>(sql.raw(`PRAGMA ${name}(${maxLines})`)).map(([line]) => line);
  const orphans = full ? database.values(sql`PRAGMA foreign_key_check`).length : 0;
  if (orphans > 0) lines.push(`${orphans} rows without what they belong to`);
  return lines.filter((line) => line !== "ok");
}

function lostParts(database: Connection): string[] {
  const found = new Set(database.values<[string]>(sql`SELECT name FROM sqlite_schema`).map(([name]) => name));
  const tables = Object.values<unknown>(schema).filter((part): part is SQLiteTable => is(part, SQLiteTable));
  const indexes = tables.flatMap((table) => getTableConfig(table).indexes.map(({ config }) => config.name));
  const needed = [...tables.map(getTableName), ...indexes, getViewName(readableLeads)];
  return needed.filter((name) => !found.has(name));
}

/** The newest lead of any account, the newest key, the last day with requests, or the act that was recorded last. */
function newestMs(database: Connection): number | null {
  const ofAccount = sql`SELECT max(${leads.identifiedAt}) FROM ${leads} WHERE ${leads.account} = ${accounts.number}`;
  const [row] = database.values<[number | null]>(sql`
    SELECT max(ms) FROM (
      SELECT (${ofAccount}) AS ms FROM ${accounts} UNION ALL SELECT max(${keys.createdAt}) FROM ${keys}
      UNION ALL SELECT unixepoch(max(${usage.day})) * 1000 FROM ${usage})`);
  const newest = row?.[0] ?? null;
  const last = lastAct(database)?.atMs ?? newest;
  return newest === null || last === null ? last : Math.max(newest, last);
}

/** Returns for every account when leads arrived last, and whether a source delivers to it that is not revoked. */
function listInflows(database: Connection) {
  const live = database
    .select({ account: sources.account })
    .from(sources)
    .where(and(eq(sources.account, accounts.number), isNull(sources.revokedAt)));
  return database
    .select({
      id: accounts.id,
      name: accounts.name,
      lastImportMs: max(imports.finishedAt),
      hasSource: exists(live).mapWith(Boolean),
    })
    .from(accounts)
    .leftJoin(imports, and(eq(imports.account, accounts.number), hasBrought))
    .groupBy(accounts.number)
    .all();
}
