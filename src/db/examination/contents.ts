/** What the doctor asks of a database that can be read: whether it is whole, and what there is in it. */
import { and, eq, exists, getTableName, getViewName, is, isNull, max, sql, View } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Connection } from "../connection.ts";
import { hasBrought } from "../imports.ts";
import { type KeyRecord, listKeys } from "../keys.ts";
import { type Filters, preparePage } from "../page-statement.ts";
import * as schema from "../schema.ts";
import { accounts, audit, imports, keys, leads, sources, usage } from "../schema.ts";

export interface Contents {
  /** How many migrations the next start will apply. */
  readonly migrationsBehind: number;
  /** The first lines of what SQLite's integrity check found; empty when all is well. */
  readonly damage: readonly string[];
  /** Tables and indexes that are missing. */
  readonly lost: readonly string[];
  /** Filters of GET /leads for which SQLite reads more rows than it returns. */
  readonly slowFilters: readonly string[];
  /** The newest moment in the file, in Unix milliseconds. */
  readonly newestMs: number | null;
  readonly hasLeads: boolean;
  /** When the last backup was made, in Unix milliseconds. */
  readonly lastBackupMs: number | null;
  /** When the last verified one was stored in its place, in Unix milliseconds. */
  readonly lastStoredMs: number | null;
  /** Every account. */
  readonly inflows: readonly AccountInflow[];
  /** Every key. */
  readonly keys: readonly KeyRecord[];
}

export interface AccountInflow {
  readonly id: string;
  readonly name: string;
  /** When leads came in last, in Unix milliseconds; null where none ever did. */
  readonly lastImportMs: number | null;
  /** Whether a source delivers to it that is not revoked. */
  readonly hasSource: boolean;
}

/** Asks a file that can be read. `full` compares every index with its table as well. */
export function readContents(database: Connection, migrationsBehind: number, full: boolean): Contents {
  const damage = check(database, full);
  const lost = migrationsBehind === 0 ? lostParts(database) : [];
  // A broken or older file may lack tables that these questions need.
  const askable = damage.length === 0 && lost.length === 0 && migrationsBehind === 0;
  return { migrationsBehind, damage, lost, ...(askable ? readAll(database) : unknown) };
}

/** What is said of a file that cannot be asked. */
const unknown = {
  slowFilters: [],
  newestMs: null,
  hasLeads: false,
  lastBackupMs: null,
  lastStoredMs: null,
  inflows: [],
  keys: [],
};

function readAll(database: Connection): Omit<Contents, "migrationsBehind" | "damage" | "lost"> {
  return {
    slowFilters: slowFilters(database),
    newestMs: newestMs(database),
    hasLeads: database.select({ account: leads.account }).from(leads).limit(1).all().length > 0,
    lastBackupMs: lastActMs(database, "backup"),
    lastStoredMs: lastActMs(database, "backup.verified"),
    inflows: listInflows(database),
    keys: listKeys(database),
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
  const names = ["pixelId", "state", "city", "hasEmail"] as const;
  const combinations = Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_, place) => (bits >> place) & 1),
  );
  return combinations.filter((chosen) => isSlow(database, chosen)).map((chosen) => chosen.join(" and ") || "none");
}

function isSlow(database: Connection, chosen: readonly (keyof Filters)[]): boolean {
  const has = (name: keyof Filters) => chosen.includes(name);
  const filters = { pixelId: has("pixelId"), state: has("state"), city: has("city"), hasEmail: has("hasEmail") };
  const query = preparePage(database, filters).getQuery();
  const steps = database.$client
    .query<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${query.sql}`)
    .all(...query.params.map(() => null));
  return steps.some(({ detail }) => /TEMP B-TREE|^SCAN/i.test(detail));
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

function lastActMs(database: Connection, act: "backup" | "backup.verified"): number | null {
  const last = database
    .select({ ms: max(audit.at) })
    .from(audit)
    .where(eq(audit.act, act))
    .get();
  return last?.ms ?? null;
}

function listInflows(database: Connection): AccountInflow[] {
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
