/** Looks at a database file in whatever state it is, without changing it or making files beside it. */
import { constants, Database, SQLiteError } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { count, eq, getTableName, getViewName, is, isNull, max, sql, View } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { shmOf, walOf } from "../store/database-files.ts";
import type { Contents, Examination } from "../store/examination.ts";
import type { Connection } from "./connection.ts";
import { isSqlite, sizeOf } from "./file.ts";
import { openLastImport } from "./import/last-import.ts";
import { listKeys } from "./keys.ts";
import { lockWaitMs } from "./locks/lock-wait.ts";
import { migrationsBehind } from "./migrate.ts";
import { type Filters, preparePage } from "./reading/page-statement.ts";
import * as schema from "./schema.ts";
import { accounts, audit, keys, leads, sources, usage } from "./schema.ts";

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
  const client = new Database(url.href, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  try {
    client.run(`PRAGMA busy_timeout = ${lockWaitMs.toLook}`);
    const database = drizzle({ client });
    const behind = migrationsBehind(database);
    if (behind === "foreign" || behind === "newer") return { kind: behind };
    return { kind: "read", contents: contentsOf(database, behind, full) };
  } finally {
    client.close();
  }
}

function contentsOf(database: Connection, migrationsBehind: number, full: boolean): Contents {
  const damage = check(database, full);
  const lost = migrationsBehind === 0 ? lostParts(database) : [];
  // A broken or older file may lack tables that these questions need.
  const askable = damage.length === 0 && lost.length === 0 && migrationsBehind === 0;
  return {
    migrationsBehind,
    damage,
    lost,
    slowFilters: askable ? slowFilters(database) : [],
    newestMs: askable ? newestMs(database) : null,
    hasLeads: askable && database.select({ account: leads.account }).from(leads).limit(1).all().length > 0,
    lastBackupMs: askable ? lastBackupMs(database) : null,
    lastImportMs: askable ? openLastImport(database)() : null,
    liveSources: askable ? liveSources(database) : 0,
    keys: askable ? listKeys(database) : [],
  };
}

const linesShown = 5;

function check(database: Connection, full: boolean): string[] {
  const name = full ? "integrity_check" : "quick_check";
  const lines = database.values<[string]>(sql.raw(`PRAGMA ${name}(${linesShown})`)).map(([line]) => line);
  const orphans = full ? database.values(sql`PRAGMA foreign_key_check`).length : 0;
  if (orphans > 0) lines.push(`${orphans} rows without what they belong to`);
  return lines.filter((line) => line !== "ok");
}

function lostParts(database: Connection): string[] {
  const there = new Set(database.values<[string]>(sql`SELECT name FROM sqlite_schema`).map(([name]) => name));
  return neededParts().filter((name) => !there.has(name));
}

function neededParts(): string[] {
  return Object.values<unknown>(schema).flatMap((part) => {
    if (is(part, View)) return [getViewName(part)];
    if (!is(part, SQLiteTable)) return [];
    return [getTableName(part), ...getTableConfig(part).indexes.map(({ config }) => config.name)];
  });
}

/** Every combination of filters must search an index by all of its conditions, and sort nothing. */
function slowFilters(database: Connection): string[] {
  const names = ["pixel", "state", "city", "email"] as const;
  const combinations = Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_, place) => (bits >> place) & 1),
  );
  return combinations
    .filter((chosen) => {
      const filters: Filters = Object.assign(
        { pixel: false, state: false, city: false, email: false },
        ...chosen.map((name) => ({ [name]: true })),
      );
      return isSlow(database, filters);
    })
    .map((chosen) => chosen.join(" and ") || "none");
}

function isSlow(database: Connection, filters: Filters): boolean {
  const query = preparePage(database, filters).getQuery();
  const steps = database.$client
    .query<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${query.sql}`)
    .all(...query.params.map(() => null));
  return steps.some(({ detail }) => /TEMP B-TREE|^SCAN/i.test(detail));
}

function newestMs(database: Connection): number | null {
  const ofAccount = sql<number>`(SELECT max(${leads.identifiedAt}) FROM ${leads} WHERE ${leads.account} = ${accounts.number})`;
  const newestLeads = database.select({ ms: ofAccount }).from(accounts).all();
  const newestKey = database
    .select({ ms: max(keys.createdAt) })
    .from(keys)
    .get();
  const newestUsage = database
    .select({ day: max(usage.day) })
    .from(usage)
    .get();
  const moments = [...newestLeads, newestKey].flatMap((row) => row?.ms ?? []);
  if (newestUsage?.day) moments.push(Date.parse(newestUsage.day));
  return moments.length === 0 ? null : Math.max(...moments);
}

function lastBackupMs(database: Connection): number | null {
  const last = database
    .select({ ms: max(audit.at) })
    .from(audit)
    .where(eq(audit.act, "backup"))
    .get();
  return last?.ms ?? null;
}

function liveSources(database: Connection): number {
  const [found] = database.select({ live: count() }).from(sources).where(isNull(sources.revokedAt)).all();
  return found?.live ?? 0;
}
