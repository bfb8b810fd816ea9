/**
 * Restores a backup: it becomes the database, completely or not at all. Everything is checked and prepared in a draft next
 * to the database. Renaming the draft is the only step that changes anything.
 */
import { Database } from "bun:sqlite";
import { existsSync, linkSync, mkdirSync, openSync, realpathSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { dayMs } from "../contract/calendar.ts";
import { writeMoment } from "../contract/time.ts";
import { copyDigesting, copyOpen, draftOf, giveToOwner, isUnlinkable, removeDraft, sync } from "../db/atomic-file.ts";
import { recordAct } from "../db/audit.ts";
import { type Connection, changedRows, closing } from "../db/connection.ts";
import { filesOf, shmOf } from "../db/database-files.ts";
import { isDamaged, isFull, saidBy, underlying } from "../db/failure.ts";
import { isSqlite, sizeOf } from "../db/file.ts";
import { removeLeftovers } from "../db/leftovers.ts";
import { takeLock } from "../db/locks/process-lock.ts";
import { migrateSchema } from "../db/migrate.ts";
import { ensureInstance } from "../db/open.ts";
import { refuseUnusable } from "../db/schema-version.ts";
import { vacuum } from "../db/vacuum.ts";
import { adminCommand } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import { type MadeBackup, makeBackup } from "./backup.ts";
import { type CarriedPart, carryOver, examineOld, partNames } from "./carry-over.ts";
import { contentOf, type Manifest, readManifest } from "./manifest.ts";
import { type KnownErasures, readReceipts, rememberErasures, storeReceipts } from "./receipts.ts";
import {
  attachReplaced,
  attempt,
  detach,
  findLost,
  type Lost,
  type Replaced,
  refuseOpen,
  upgradedCopyOf,
} from "./replaced.ts";
import { inThread, type Listen } from "./thread.ts";

export interface RestoreRequest {
  /** The database that is replaced. */
  readonly path: string;
  /** The backup. */
  readonly file: string;
  /** Newer backups from the same place, newest first. Their erasures and revocations hold. */
  readonly newer: readonly string[];
  /** A file with one receipt per line; null if none is given. */
  readonly receipts: string | null;
  readonly nowMs: number;
  /** Reports what a restore would do, and changes nothing. The server may be running. */
  readonly dryRun: boolean;
}

/** What a restore does, as far as it is known before the database is replaced. */
export interface Restoration {
  /** When the backup was made. */
  readonly madeMs: number;
  readonly leads: number;
  readonly erasedAgain: number;
  /** The number of leads that are left out because they are older than their account keeps. */
  readonly retainedOut: number;
  readonly lost: Lost;
  /** What is carried over from the replaced file, because it must outlive a restore. */
  readonly carried: readonly CarriedPart[];
  /** What cannot be carried over, because the replaced file is damaged. */
  readonly unread: readonly string[];
  /** Whether some file knows what was done since the backup, as far as it can be read. */
  readonly isSinceKnown: boolean;
  /** The name under which the replaced file is kept; null if there is none. */
  readonly kept: string | null;
}

/** What can be done with the database as a whole; a cluster cannot be restored. */
export interface Backups {
  make(file: string, nowMs: number, listen: Listen): Promise<MadeBackup>;
  restore(
    request: Omit<RestoreRequest, "path">,
    listen: Listen,
    confirm: (report: Restoration) => Promise<void> | void,
  ): Promise<Restoration>;
}

/** The backups of a file that only this program writes. */
export function openBackups(path: string): Backups {
  return {
    make: (file, nowMs, listen) => makeBackup(path, file, nowMs, listen),
    restore: (request, listen, confirm) => restore({ path, ...request }, listen, confirm),
  };
}

/** The file that a restore replaces: a path may be a link. */
export function targetOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

/**
 * Restores a backup, or reports what that would do. Throws a UserError if it cannot, and then nothing has changed.
 * `confirm` is called with the report before anything is replaced, and stops the restore by throwing.
 */
export async function restore(
  request: RestoreRequest,
  listen: Listen,
  confirm: (report: Restoration) => Promise<void> | void,
): Promise<Restoration> {
  const target = targetOf(request.path);
  try {
    return await inThread<Restoration, Restoration>("restoreBackup", request, listen, confirm);
  } finally {
    for (const draft of [draftOf(target), upgradedCopyOf(target), newerCopyOf(target)]) removeDraft(draft);
  }
}

/** The work of the thread. `confirm` is called when only what cannot be stopped is left to do. */
export function restoreBackup(request: RestoreRequest, confirm: (report: Restoration) => void): Restoration {
  const { path, file, newer, nowMs, dryRun } = request;
  const target = targetOf(path);
  const manifest = readManifest(file);
  const receipts = request.receipts === null ? [] : readReceipts(request.receipts);
  if (realpathSync(file) === target) throw notABackup(`${file} is the database itself.`);
  mkdirSync(dirname(target), { recursive: true });
  const release = dryRun ? () => {} : (takeLock(target) ?? refuseOpen(path));
  const draft = draftOf(target);
  removeLeftovers(dirname(target));
  try {
    using database = closing(openDraft(file, draft, manifest));
    const erasures = rememberErasures(database);
    const isKnownByNewer = newer.some((one) => carryFromNewer(database, one, target, nowMs));
    const replaced = attachReplaced(database, target, dryRun ? "shared" : "exclusive");
    const lost = findLost(database, replaced, nowMs);
    const isSinceKnown = isKnownByNewer || (replaced === "attached" && isOfSameInstance(database));
    const merged = merge(database, { replaced, receipts, erasures, nowMs });
    const kept = existsSync(target) ? freeName(`${target}.replaced-${stamp(nowMs)}`) : null;
    const report = { madeMs: Date.parse(manifest.made_at), lost, isSinceKnown, kept, ...merged };
    if (dryRun) return report;
    sync(draft);
    confirm(report);
    putInPlace(draft, target, kept, replaced);
    // The lock on the replaced file ends here, when it no longer has the path. Closing alone may leave it to the thread's end.
    if (replaced === "attached") detach(database);
    return report;
  } catch (cause) {
    throw inWords(cause, file, target);
  } finally {
    release();
  }
}

/** Restores a backup into a draft, as on an empty machine. The caller removes the draft. */
export function restoreAside(file: string, draft: string, nowMs: number): { manifest: Manifest; database: Connection } {
  const manifest = readManifest(file);
  try {
    const database = openDraft(file, draft, manifest);
    const erasures = rememberErasures(database);
    merge(database, { replaced: "nothing there", receipts: [], erasures, nowMs });
    return { manifest, database };
  } catch (cause) {
    throw inWords(cause, file, draft);
  }
}

/** Carries over the erasures and revocations that a newer backup knows. False if it is damaged, or of another instance. */
function carryFromNewer(database: Connection, newer: string, target: string, nowMs: number): boolean {
  const copy = newerCopyOf(target);
  try {
    openDraft(newer, copy, readManifest(newer)).$client.close();
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    removeDraft(copy);
    return false;
  }
  database.run(sql`ATTACH ${copy} AS old`);
  const isSame = isOfSameInstance(database);
  const { sound } = examineOld(database, nowMs);
  const kept = sound.filter(({ name }) => ["erasures", "revoked keys", "expiries of keys"].includes(name));
  if (isSame) inTransaction(database, () => carryOver(database, kept));
  detach(database);
  removeDraft(copy);
  return isSame;
}

function newerCopyOf(target: string): string {
  return draftOf(`${target}.newer`);
}

/** Whether `old` has a history with the backup, so that it knows what was done since. */
function isOfSameInstance(database: Connection): boolean {
  const shared = sql`SELECT 1 FROM old.instances JOIN main.instances USING (id)`;
  return (attempt(() => database.values(shared)) ?? []).length > 0;
}

interface Sources {
  readonly replaced: Replaced;
  readonly receipts: ReturnType<typeof readReceipts>;
  readonly erasures: KnownErasures;
  readonly nowMs: number;
}

/** Merges what must outlive the replaced file, repeats erasures, and leaves out what retention no longer keeps. */
function merge(database: Connection, { replaced, receipts, erasures, nowMs }: Sources) {
  const none = { sound: [], unread: replaced === "unreadable" ? partNames() : [] };
  const { sound, unread } = replaced === "attached" ? examineOld(database, nowMs) : none;
  const merged = inTransaction(database, () => {
    const carried = carryOver(database, sound);
    ensureInstance(database);
    storeReceipts(database, receipts);
    leaveOutDeletedAccounts(database);
    const erasedAgain = erasures.repeat();
    const retainedOut = leaveOutOlder(database, nowMs);
    const leads = database.values<[number]>(sql`SELECT count(*) FROM main.stored_leads`)[0]?.[0] ?? 0;
    const detail = { leads, erased_again: erasedAgain, older: retainedOut };
    recordAct(database, { atMs: nowMs, act: "restore", account: null, detail });
    return { leads, erasedAgain, retainedOut, carried, unread };
  });
  if (merged.erasedAgain + merged.retainedOut > 0) vacuum(database);
  return merged;
}

function inTransaction<Result>(database: Connection, work: () => Result): Result {
  database.run(sql`BEGIN IMMEDIATE`);
  const result = work();
  database.run(sql`COMMIT`);
  return result;
}

/** Removes accounts that were deleted since the backup. Their keys stay revoked (`deleted_keys`). */
function leaveOutDeletedAccounts(database: Connection): void {
  const gone = sql`SELECT number FROM main.accounts WHERE id IN (SELECT id FROM main.deleted_accounts)`;
  if (database.values(gone).length === 0) return;
  database.run(sql`
    INSERT OR IGNORE INTO main.deleted_keys (digest, account)
    SELECT keys.digest, accounts.id FROM main.keys JOIN main.accounts ON accounts.number = keys.account
    WHERE accounts.number IN (${gone})`);
  for (const table of ["usage", "disclosures"]) {
    database.run(sql`
      DELETE FROM ${sql.raw(`main.${table}`)} WHERE key IN (SELECT number FROM main.keys WHERE account IN (${gone}))`);
  }
  for (const table of tablesOfAccounts) {
    database.run(sql`DELETE FROM ${sql.raw(`main.${table}`)} WHERE account IN (${gone})`);
  }
  database.run(sql`DELETE FROM main.accounts WHERE number IN (${gone})`);
}

const tablesOfAccounts = [
  "stored_leads",
  "pixels",
  "keys",
  "sources",
  "imports",
  "suppressions",
  "suppressed_digests",
  "receipts",
];

/** Removes leads that are older than their account keeps: the server would serve them until its retention has run. */
function leaveOutOlder(database: Connection, nowMs: number): number {
  database.run(sql`
    DELETE FROM main.stored_leads WHERE identified_at < (
      SELECT ${nowMs} - retain_days * ${dayMs} FROM main.accounts WHERE accounts.number = stored_leads.account)`);
  return changedRows(database);
}

/** Copies a backup and upgrades the copy to this version's schema; throws a UserError if it is not a sound backup. */
function openDraft(file: string, draft: string, manifest: Manifest): Connection {
  const { sha256, bytes } = copyDigesting(file, draft);
  if (bytes !== manifest.bytes) {
    throw new UserError(
      `${file} has ${bytes} bytes, but its manifest says ${manifest.bytes}.`,
      "It is incomplete; use another backup.",
    );
  }
  if (sha256 !== manifest.sha256) {
    throw new UserError(
      `${file} is not what was backed up: its SHA-256 differs.`,
      "It is damaged; use another backup.",
    );
  }
  if (!isSqlite(draft)) throw notABackup(`${file} is not a Leadfile database.`);
  const client = new Database(draft, { readwrite: true });
  const database = drizzle({ client });
  refuseUnusable(database, file);
  client.run("PRAGMA journal_mode = DELETE");
  client.run("PRAGMA secure_delete = ON");
  client.run("PRAGMA temp_store = MEMORY");
  const faults = database.values<[string]>(sql`PRAGMA integrity_check(1)`);
  const reason = faults[0]?.[0] ?? "nothing can be read";
  if (reason !== "ok") throw new UserError(`${file} is damaged (${reason}).`, "Use another backup.");
  migrateSchema(database, file, "no copy");
  checkContent(database, file, manifest);
  return database;
}

/** Compares the copy with the manifest before anything is merged; a migration changes neither counts nor content. */
function checkContent(database: Connection, file: string, manifest: Manifest): void {
  const { counts, content } = contentOf(database);
  const advice = "Use another backup.";
  for (const [table, expected] of Object.entries(manifest.counts)) {
    const found = counts[table as keyof typeof counts]; // The manifest has the same tables.
    if (found !== expected) {
      throw new UserError(`${file} has ${found} ${table}, but its manifest says ${expected}.`, advice);
    }
  }
  if (content !== manifest.content) {
    throw new UserError(`${file} has other content than what was backed up.`, advice);
  }
}

/** A timestamp as part of a file name. */
function stamp(ms: number): string {
  return writeMoment(ms).replaceAll(/[:.]/g, "-");
}

/** Gives the draft the name of the database, and the replaced file the name `kept`. One of the two always has the path. */
function putInPlace(draft: string, target: string, kept: string | null, replaced: Replaced): void {
  if (replaced === "nothing there" && sizeOf(target) > 0) refuseOpen(target);
  giveToOwner(draft, target);
  if (kept !== null) keep(target, kept);
  // SQLite would read the old log into the new file. If the old file lacks some of it, it is kept with that file.
  for (const file of filesOf(target).slice(1).filter(existsSync)) {
    if (kept !== null && replaced !== "attached" && file !== shmOf(target))
      renameSync(file, kept + file.slice(target.length));
    else rmSync(file);
  }
  renameSync(draft, target);
  sync(dirname(target));
}

function freeName(name: string): string {
  for (let number = 2, free = name; ; free = `${name}-${number++}`) if (!existsSync(free)) return free;
}

function keep(target: string, kept: string): void {
  try {
    linkSync(target, kept);
  } catch (cause) {
    if (!isUnlinkable(cause)) throw cause;
    // It stays open until the process ends: closing it drops the lock on the old file, and others would write into it.
    copyOpen(openSync(target, "r"), kept);
  }
}

function notABackup(what: string): UserError {
  return new UserError(what, `Name a file that ${adminCommand} backup has made.`);
}

function inWords(failure: unknown, file: string, path: string): unknown {
  const cause = underlying(failure);
  if (isFull(cause)) {
    return new UserError(
      `The disk of ${path} is full.`,
      "A restore needs space for a second file. Free some; nothing has changed.",
    );
  }
  if (isDamaged(cause)) return notABackup(`${file} is not a Leadfile database, or is damaged.`);
  const reason = saidBy(cause);
  if (reason === null) return cause;
  return new UserError(`The restore failed (${reason}).`, `${path} has not changed. Check its folder and the backup.`);
}
