/** The file that a restore replaces: attached as `old`, locked, and compared with the backup. */
import { existsSync, statSync } from "node:fs";
import { type SQL, sql } from "drizzle-orm";
import { type Connection, connectTo } from "../db/connection.ts";
import { codeOf, isDamaged, isLocked, underlying } from "../db/failure.ts";
import { lockWaitMs } from "../db/locks.ts";
import { migrateSchema } from "../db/migrate.ts";
import { processesWith, servicesOf } from "../db/open-elsewhere.ts";
import { UserError } from "../runtime/user-error.ts";

/** The file at the path of the database. */
export type Replaced = "attached" | "nothing there" | "unreadable";

/**
 * Attaches the file that is replaced. With `exclusive` this process alone has it, with its log copied into it: SQLite leaves
 * the WAL mode only when no other process has the file open. With `shared` a server may go on. `copy` is where the file of
 * an earlier version is upgraded.
 */
export function attachReplaced(
  database: Connection,
  target: string,
  access: "exclusive" | "shared",
  copy: string,
): Replaced {
  if (!existsSync(target) || statSync(target).size === 0) return "nothing there";
  database.run(sql.raw(`PRAGMA busy_timeout = ${lockWaitMs.toLook}`));
  try {
    attach(database, target, access, "old");
    if (isOlder(database)) {
      detach(database);
      attach(database, target, access, "locked");
      attachUpgraded(database, target, copy);
    }
    return "attached";
  } catch (failure) {
    if (isLocked(failure)) return refuseOpen(target);
    // SQLite has no code for a file whose first bytes it does not know.
    if (codeOf(failure) !== "SQLITE_ERROR" && !isUnreadable(failure)) throw underlying(failure);
    return "unreadable";
  }
}

function attach(database: Connection, target: string, access: "exclusive" | "shared", name: "old" | "locked"): void {
  database.run(sql`ATTACH ${target} AS ${sql.raw(name)}`);
  database.values(sql`SELECT count(*) FROM ${sql.raw(name)}.sqlite_schema`);
  if (access === "shared") return;
  database.run(sql.raw(`PRAGMA ${name}.journal_mode = DELETE`));
  database.run(sql.raw(`PRAGMA ${name}.locking_mode = EXCLUSIVE`));
  database.run(sql`BEGIN EXCLUSIVE`);
  database.run(sql`COMMIT`);
}

/** Returns whether an earlier version wrote the file. */
function isOlder(database: Connection): boolean {
  const appliedIn = (schema: "main" | "old") =>
    database.values<[number]>(sql`SELECT count(*) FROM ${sql.raw(schema)}.__drizzle_migrations`)[0]?.[0] ?? 0;
  return (attempt(() => appliedIn("old")) ?? Number.POSITIVE_INFINITY) < appliedIn("main");
}

/** Attaches an upgraded copy as `old`, so that all of an earlier version's file can be carried over. */
function attachUpgraded(database: Connection, target: string, copy: string): void {
  database.run(sql`VACUUM locked INTO ${copy}`);
  const upgraded = connectTo(copy, "readwrite");
  migrateSchema(upgraded, target, "no copy");
  upgraded.$client.close();
  database.run(sql`ATTACH ${copy} AS old`);
}

/** Detaches what a restore has attached. */
export function detach(database: Connection): void {
  const attached = database.values<[number, string]>(sql`PRAGMA database_list`).map(([, name]) => name);
  for (const name of ["old", "locked"]) if (attached.includes(name)) database.run(sql.raw(`DETACH ${name}`));
}

/** Refuses to replace a file that another process has open. */
export function refuseOpen(path: string): never {
  const others = processesWith(path).filter(({ pid }) => pid !== process.pid);
  const services = servicesOf(others);
  const stop = services === "" ? "Stop it" : `Stop it (systemctl stop ${services})`;
  const pids = others.length === 0 ? "" : ` (process ${others.map(({ pid }) => pid).join(", ")})`;
  throw new UserError(
    `${path} is open in a server or another program${pids}.`,
    `${stop}, then run restore again: a server would continue to serve the old file.`,
  );
}

/** The result of reading from `old`; null if it is damaged, or of a version that lacks a table or a column. */
export function attempt<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (failure) {
    if (isUnreadable(failure) || codeOf(failure) === "SQLITE_ERROR") return null;
    throw failure;
  }
}

/** Returns a function that tells whether a table of `old` exists and has no damage. */
export function openSoundness(database: Connection): (table: string) => boolean {
  const names = attempt(() => database.values<[string]>(sql`SELECT name FROM old.sqlite_schema`)) ?? [];
  const tables = new Set(names.map(([name]) => name));
  const known = new Map<string, boolean>();
  const check = (table: string) =>
    attempt(() => database.values<[string]>(sql.raw(`PRAGMA old.integrity_check('${table}')`)))?.[0]?.[0] === "ok";
  return (table) => {
    const isSound = known.get(table) ?? (tables.has(table) && check(table));
    known.set(table, isSound);
    return isSound;
  };
}

/** Returns whether a file is damaged, or the disk under it. */
function isUnreadable(failure: unknown): boolean {
  return isDamaged(failure) || codeOf(failure) === "SQLITE_IOERR_READ";
}

const readOld = <Row extends unknown[]>(database: Connection, query: SQL) =>
  attempt(() => database.values<Row>(query)) ?? [];

type Soundness = ReturnType<typeof openSoundness>;

/** Reads from tables of `old`; null if there is no such file, or if one of the tables is damaged. */
function readSound<Row extends unknown[]>(
  database: Connection,
  isSound: Soundness,
  tables: readonly string[],
  query: SQL,
) {
  return tables.every(isSound) ? attempt(() => database.values<Row>(query)) : null;
}

/** Returns whether `old` has a history with the backup. */
export function isOfSameInstance(database: Connection): boolean {
  return readOld(database, sql`SELECT 1 FROM old.instances JOIN main.instances USING (id)`).length > 0;
}

/** Returns whether `old` knows what was done since the backup: it has the last act that the backup has. */
export function isContinued(database: Connection): boolean {
  const missing = sql`
    SELECT at, act, account, detail FROM (SELECT * FROM main.audit ORDER BY number DESC LIMIT 1)
    EXCEPT SELECT at, act, account, detail FROM old.audit`;
  return isOfSameInstance(database) && attempt(() => database.values(missing))?.length === 0;
}

/** The data that the replaced file has and the backup does not; null if it cannot be known. */
export interface Lost {
  readonly accounts: readonly string[] | null;
  readonly keys: number | null;
  readonly imports: readonly { readonly account: string; readonly file: string; readonly leads: number }[] | null;
  /** The numbers of leads by the name of their account. */
  readonly leads: readonly { readonly account: string; readonly leads: number }[] | null;
}

/** The accounts of the replaced file that were not deleted since. */
const theirs = sql`(SELECT * FROM old.accounts WHERE id NOT IN (SELECT id FROM main.deleted_accounts)) AS theirs`;

/**
 * Compares the replaced file with the backup, before it is merged into it. A newer backup may have been merged: a key created
 * since is revoked at the time of the restore.
 */
export function findLost(database: Connection, isSound: Soundness, nowMs: number): Omit<Lost, "leads"> {
  const read = <Row extends unknown[]>(tables: readonly string[], query: SQL) =>
    readSound<Row>(database, isSound, tables, query);
  const accounts = read<[string]>(
    ["accounts"],
    sql`SELECT name FROM ${theirs} WHERE id NOT IN (SELECT id FROM main.accounts) ORDER BY number`,
  );
  const keys = read(
    ["accounts", "keys"],
    sql`
      SELECT 1 FROM old.keys AS key JOIN ${theirs} ON theirs.number = key.account
      WHERE digest NOT IN (SELECT digest FROM main.keys WHERE revoked_at IS NOT ${nowMs})
        AND revoked_at IS NULL AND ifnull(expires_at, ${nowMs} + 1) > ${nowMs}`,
  );
  const imports = read<[string, string, number]>(
    ["accounts", "imports"],
    sql`
      SELECT theirs.name, made.file, made.imported FROM old.imports AS made
      JOIN ${theirs} ON theirs.number = made.account
      WHERE made.undone_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM main.imports AS known
        WHERE known.number = made.number AND known.at = made.at AND known.undone_at IS NULL)
      ORDER BY made.number`,
  );
  return {
    accounts: accounts?.map(([name]) => name) ?? null,
    keys: keys?.length ?? null,
    imports: imports?.map(([account, file, leads]) => ({ account, file, leads })) ?? null,
  };
}

/** Compares the leads, after all is merged: an undo or an erasure may have removed leads that were imported again since. */
export function findLostLeads(database: Connection, isSound: Soundness): Lost["leads"] {
  const lost = sql`
    SELECT theirs.name, count(*) FROM old.stored_leads AS lead
    JOIN ${theirs} ON theirs.number = lead.account
    LEFT JOIN main.accounts AS ours ON ours.id = theirs.id
    WHERE NOT EXISTS (
      SELECT 1 FROM main.stored_leads AS known WHERE known.account = ours.number AND known.uuid = lead.uuid)
    GROUP BY theirs.number ORDER BY theirs.number`;
  const rows = readSound<[string, number]>(database, isSound, ["accounts", "stored_leads"], lost);
  return rows?.map(([account, leads]) => ({ account, leads })) ?? null;
}
