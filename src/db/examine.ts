/** Looks at a database file in whatever state it is, without changing it or creating files next to it. */
import { constants, Database, SQLiteError } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { and, eq, exists, getTableName, getViewName, is, isNull, max, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { lastAct } from "./audit.ts";
import type { Connection } from "./connection.ts";
import { isSqlite, shmOf, sizeOf, walOf } from "./files.ts";
import { hasBrought } from "./imports.ts";
import { listKeys } from "./keys.ts";
import { lockWaitMs } from "./locks.ts";
import { lastBuild, migrationsBehind, type Unusable } from "./migrate.ts";
import { readableLeads } from "./readable-leads.ts";
import * as schema from "./schema.ts";
import { type Act, accounts, audit, imports, keys, leads, sources, usage } from "./schema.ts";

/** The state of a file. */
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
    return examineUndisturbed(path, full);
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause;
    // A full disk has no room for the index of the log. The file is sound, and nobody should replace it for that.
    const isTrouble = /^SQLITE_(?:IOERR|CANTOPEN|FULL|BUSY)/.test(cause.code ?? "");
    return { kind: isTrouble ? "unreadable" : "no database", reason: cause.message };
  }
}

/** If nobody has the file open, it is read without locks, and read again if somebody opened it in the meantime. */
function examineUndisturbed(path: string, full: boolean): Examination {
  const before = statSync(path).mtimeMs;
  const isOpen = existsSync(walOf(path));
  const found = examineOnce(path, isOpen, full);
  const isDisturbed = !isOpen && (existsSync(walOf(path)) || statSync(path).mtimeMs !== before);
  return isDisturbed ? examineOnce(path, true, full) : found;
}

function examineOnce(path: string, isOpen: boolean, full: boolean): Examination {
  // Opened as usual, SQLite would create a log and its index next to the file, owned by whoever runs this.
  const url = pathToFileURL(path);
  if (!isOpen) url.searchParams.set("immutable", "1");
  using client = new Database(url.href, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  client.run(`PRAGMA busy_timeout = ${lockWaitMs.toLook}`);
  const database = drizzle({ client });
  const behind = migrationsBehind(database);
  if (typeof behind !== "number") return { kind: "unusable", why: behind, build: lastBuild(database) };
  return { kind: "read", contents: readContents(database, behind, full) };
}

/** The contents of a file that can be read. */
export type Contents = ReturnType<typeof readContents>;
export type AccountInflow = Contents["inflows"][number];

function readContents(database: Connection, migrationsBehind: number, full: boolean) {
  const damage = check(database, full);
  const lost = migrationsBehind === 0 ? lostParts(database) : [];
  // A broken or older file may lack tables that these questions need.
  const isWhole = damage.length === 0 && lost.length === 0 && migrationsBehind === 0;
  const lastActMs = (act: Act) => lastAct(database, eq(audit.act, act))?.atMs ?? null;
  return {
    /** The number of migrations that the next start will apply. */
    migrationsBehind,
    /** The first lines of SQLite's integrity check; empty if all is well. */
    damage,
    /** Tables and indexes that are missing. */
    lost,
    /** The newest timestamp in the file, in Unix milliseconds. */
    newestMs: isWhole ? newestMs(database) : null,
    hasLeads: isWhole && database.select({ account: leads.account }).from(leads).limit(1).all().length > 0,
    lastBackupMs: isWhole ? lastActMs("backup") : null,
    /** The time at which the last verified backup was stored in its place. */
    lastStoredMs: isWhole ? lastActMs("backup.verified") : null,
    inflows: isWhole ? listInflows(database) : [],
    keys: isWhole ? listKeys(database) : [],
  };
}

const maxLines = 5;

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

/** The newest lead of any account, the newest key, or the last day with requests. */
function newestMs(database: Connection): number | null {
  const ofAccount = sql`SELECT max(${leads.identifiedAt}) FROM ${leads} WHERE ${leads.account} = ${accounts.number}`;
  const [row] = database.values<[number | null]>(sql`
    SELECT max(ms) FROM (
      SELECT (${ofAccount}) AS ms FROM ${accounts} UNION ALL SELECT max(${keys.createdAt}) FROM ${keys}
      UNION ALL SELECT unixepoch(max(${usage.day})) * 1000 FROM ${usage})`);
  return row?.[0] ?? null;
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
