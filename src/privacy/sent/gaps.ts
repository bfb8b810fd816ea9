/**
 * Gaps: times in which the ledger was not kept, or is not exact. Every report of the recipients of a lead names those that may
 * concern it.
 */
import { rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { eq, max, type SQL, sql } from "drizzle-orm";
import { dayMs } from "../../contract/calendar.ts";
import { formatTime } from "../../contract/time.ts";
import type { Connection } from "../../db/connection.ts";
import { sync } from "../../db/database-files.ts";
import { isServed } from "../../db/locks.ts";
import { audit, type GapReason, imports, keys, ledgerGaps } from "../../db/schema.ts";
import { keptDays } from "./ledger.ts";

/** A gap in its printed form. */
export interface Gap {
  readonly from: string;
  /** Null while it lasts. */
  readonly to: string | null;
  readonly reason: GapReason;
}

const explanations: Readonly<Record<GapReason, string>> = {
  off: "DISCLOSURES was off",
  disk: "the disk was full",
  stop: "the server was killed, or its machine failed",
  clock: "the clock was behind; the days may be wrong",
  restore: "a restore lost the record",
  upgrade: "an earlier version kept another record",
};

/** Returns the sentence about a gap for a person, with its times to the minute, in UTC. */
export function gapText({ from, to, reason }: Gap): string {
  const minute = (time: string) => time.slice(0, 16).replace("T", " ");
  const time = to === null ? `Since ${minute(from)} UTC` : `From ${minute(from)} to ${minute(to)} UTC`;
  return `${time} the record of who received leads is not exact (${explanations[reason]}).`;
}

/** Returns the condition on the gaps of a node that last. */
const lasting = (node: string, ...reasons: readonly GapReason[]): SQL =>
  sql`node = ${node} AND ends_at IS NULL AND reason IN (SELECT value FROM json_each(${JSON.stringify(reasons)}))`;

const begin = (node: string, fromMs: number, reason: GapReason): SQL => sql`
  INSERT INTO ${ledgerGaps} (node, begins_at, reason) SELECT ${node}, ${fromMs}, ${reason}
  WHERE NOT EXISTS (SELECT 1 FROM ${ledgerGaps} WHERE ${lasting(node, reason)})`;

const end = (node: string, nowMs: number, ...reasons: readonly GapReason[]): SQL =>
  sql`UPDATE ${ledgerGaps} SET ends_at = max(${nowMs}, begins_at) WHERE ${lasting(node, ...reasons)}`;

/**
 * Returns the statements with which a server starts. A server that keeps the ledger begins a gap `stop`, which is one only if
 * the server is killed: an orderly stop deletes it. `unwrittenMs` is since when the last server could not write the ledger.
 */
export function startStatements(
  keepsLedger: boolean,
  nowMs: number,
  node = "",
  unwrittenMs: number | null = null,
): SQL[] {
  const disk = sql`
    INSERT INTO ${ledgerGaps} (node, begins_at, ends_at, reason) SELECT ${node}, begun, max(begun, ${nowMs}), 'disk' FROM
      (SELECT min(${unwrittenMs}, ifnull((SELECT min(begins_at) FROM ${ledgerGaps} WHERE ${lasting(node, "stop")}), ${unwrittenMs})) AS begun)`;
  return [
    ...(unwrittenMs === null ? [] : [disk, sql`DELETE FROM ${ledgerGaps} WHERE ${lasting(node, "stop")}`]),
    keepsLedger ? end(node, nowMs, "stop", "off", "upgrade") : end(node, nowMs, "stop", "upgrade"),
    begin(node, nowMs, keepsLedger ? "stop" : "off"),
  ];
}

/** Returns the statement with which a server stops in order, after its last write. */
export function stopStatement(keepsLedger: boolean, nowMs: number, node = ""): SQL {
  return keepsLedger ? sql`DELETE FROM ${ledgerGaps} WHERE ${lasting(node, "stop")}` : end(node, nowMs, "off");
}

/** Returns the statement for a write after which every answered page is in the ledger: a gap `stop` begins at the last one. */
export function completeStatement(nowMs: number, node = ""): SQL {
  return sql`UPDATE ${ledgerGaps} SET begins_at = ${nowMs} WHERE ${lasting(node, "stop")}`;
}

/** Returns since when a server, if it was killed, may not have written what it sent; null if it stopped in order. */
export function stoppedSinceMs(database: Connection, node = ""): number | null {
  const open = database.select({ from: ledgerGaps.from }).from(ledgerGaps);
  return open.where(lasting(node, "stop")).get()?.from ?? null;
}

/** A clock that is set back by less, as time servers do, changes no day. */
const clockToleranceMs = 60_000;

/**
 * Makes a function that compares the clock with the newest act and import in the file. It returns the statements that begin a
 * gap while the clock is behind, because leads are then recorded under a wrong day, and end it when the clock has passed.
 */
export function createClockWatch(node = "") {
  let newestMs = Number.NEGATIVE_INFINITY;
  const seen = { act: 0, import: 0 };
  return (database: Connection, nowMs: number): SQL[] => {
    const acts = { number: max(audit.number), at: max(audit.at) };
    const act = database.select(acts).from(audit).where(sql`number > ${seen.act}`).get();
    const ends = { number: max(imports.number), at: sql<number | null>`max(max(at, ifnull(finished_at, at)))` };
    // The last import that is known may have ended since.
    const last = database.select(ends).from(imports).where(sql`number >= ${seen.import}`).get();
    newestMs = Math.max(newestMs, act?.at ?? newestMs, last?.at ?? newestMs);
    seen.act = Math.max(seen.act, act?.number ?? 0);
    seen.import = Math.max(seen.import, last?.number ?? 0);
    if (nowMs < newestMs - clockToleranceMs) return isLasting(database, node) ? [] : [begin(node, newestMs, "clock")];
    return nowMs >= newestMs && isLasting(database, node) ? [end(node, nowMs, "clock")] : [];
  };
}

function isLasting(database: Connection, node: string): boolean {
  return database.select({ from: ledgerGaps.from }).from(ledgerGaps).where(lasting(node, "clock")).get() !== undefined;
}

/**
 * Marks since when the ledger could not be written, also for the time after a kill: by the timestamp of an empty file next
 * to the database, which even a full disk takes.
 */
export function openGapMarker(database: Connection) {
  const path = markerOf(database.$client.filename);
  const sinceMs = readMarker(database.$client.filename);
  let isMarked = sinceMs !== null;
  return {
    /** Since when another process could not write the ledger; null if it could. */
    sinceMs,
    /** Marks the beginning of a gap, unless one has begun. */
    begin(ms: number): void {
      if (isMarked) return;
      writeFileSync(path, "", { mode: 0o600 });
      utimesSync(path, ms / 1000, ms / 1000);
      sync(path);
      isMarked = true;
    },
    /** Removes the mark. */
    end(): void {
      if (isMarked) rmSync(path, { force: true });
      isMarked = false;
    },
  };
}

const markerOf = (path: string) => `${path}.gap`;

function readMarker(path: string): number | null {
  const marker = statSync(markerOf(path), { throwIfNoEntry: false });
  return marker === undefined ? null : Math.round(marker.mtimeMs);
}

/** A server of a cluster moves its gap `stop` at least this often. An older one was killed. */
export const beatMs = 20_000;

/** A key by its ID, or all keys of an account by its number. */
type KeysOf = { readonly key: string } | { readonly account: number };

/** The times and the reason of a gap. `to` is null while the gap lasts. */
type KnownGap = Pick<typeof ledgerGaps.$inferSelect, "from" | "to" | "reason">;

/**
 * Lists the gaps in the days that the ledger keeps, oldest first: recorded gaps, and the gap of a disk that is full now. During
 * a restore, `old` is the replaced file.
 */
function readGaps(database: Connection, nowMs: number, schema: "main" | "old" = "main"): KnownGap[] {
  const recorded = database.all<typeof ledgerGaps.$inferSelect>(sql`
    SELECT node, begins_at AS "from", ends_at AS "to", reason FROM ${sql.raw(schema)}.ledger_gaps
    ORDER BY begins_at, number`);
  const unwritten = readMarker(schema === "main" ? database.$client.filename : replacedPath(database));
  const current = unwritten === null ? [] : [{ from: unwritten, to: null, reason: "disk" } as const];
  const holding = recorded.filter((gap) => gap.to !== null || !isRunning(database, gap, nowMs));
  return [...holding, ...current].filter(({ to }) => to === null || to >= nowMs - keptDays * dayMs);
}

/**
 * Returns the path of the replaced file. A file of an earlier version is attached as `locked`, and an upgraded copy of it as
 * `old`.
 */
function replacedPath(database: Connection): string {
  const files = sql`SELECT file FROM pragma_database_list WHERE name IN ('locked', 'old') ORDER BY name`;
  return database.values<[string]>(files)[0]?.[0] ?? "";
}

/**
 * Returns the gaps in which any of some keys could read, oldest first. A restore loses the keys that were created after the
 * backup, so the gap of a restore concerns every account.
 */
export function listGaps(database: Connection, of: KeysOf, nowMs: number): Gap[] {
  const those = "key" in of ? eq(keys.id, of.key) : eq(keys.account, of.account);
  const never = Number.POSITIVE_INFINITY;
  const lives = database
    .select({ createdAt: keys.createdAt, revokedAt: keys.revokedAt, expiresAt: keys.expiresAt })
    .from(keys)
    .where(those)
    .all();
  const couldRead = (from: number, to: number) =>
    lives.some(
      ({ createdAt, revokedAt, expiresAt }) =>
        createdAt <= to && from <= Math.min(revokedAt ?? never, expiresAt ?? never),
    );
  return readGaps(database, nowMs)
    .filter(({ from, to, reason }) => ("account" in of && reason === "restore") || couldRead(from, to ?? never))
    .map(({ from, to, reason }) => ({
      from: formatTime(Math.max(from, nowMs - keptDays * dayMs)),
      to: to === null ? null : formatTime(to),
      reason,
    }));
}

/** Returns the end of the newest gap that the ledger keeps: Infinity while a gap lasts, and null if there is none. */
export function newestGapMs(database: Connection, nowMs: number, schema: "main" | "old" = "main"): number | null {
  const ends = readGaps(database, nowMs, schema).map(({ to }) => to ?? Number.POSITIVE_INFINITY);
  return ends.length === 0 ? null : Math.max(...ends);
}

/** Returns whether a gap that lasts is that of a server that runs, and writes what it sends. */
function isRunning(
  database: Connection,
  { node, from, reason }: typeof ledgerGaps.$inferSelect,
  nowMs: number,
): boolean {
  if (reason !== "stop") return false;
  return node === "" ? isServed(database.$client.filename) : nowMs - from < 3 * beatMs;
}
