/**
 * Restores a backup: it becomes the database, completely or not at all. Everything is checked and prepared in a draft next
 * to the database. Renaming the draft is the only step that changes anything.
 */
import { copyFileSync, existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { and, eq, inArray, isNotNull, lt, sql } from "drizzle-orm";
import { dayMs, oldestKeptMs } from "../contract/calendar.ts";
import { formatTime } from "../contract/time.ts";
import { insertAct } from "../db/audit.ts";
import { type Connection, changedRows, connectTo } from "../db/connection.ts";
import { createDraftFolder, isSqlite, removeAbandonedDrafts, sizeOf, sync } from "../db/database-files.ts";
import { explainFailure, isDamaged, isFull, underlying } from "../db/failure.ts";
import { isServed, takeLock } from "../db/locks.ts";
import { migrateSchema, refuseUnusable } from "../db/migrate.ts";
import { ensureInstance } from "../db/open.ts";
import { accounts, deletedAccounts, leads, ledgerGaps } from "../db/schema.ts";
import { vacuum } from "../db/vacuum.ts";
import { rowStatements } from "../privacy/delete-account.ts";
import { forgetNumbers, forgetOlderNumbers } from "../privacy/sent/former-numbers.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { type Backup, makeBackup } from "./backup.ts";
import { endGapsOfBackup, skipNumbers } from "./carry-ledger.ts";
import { type CarriedPart, carryOver, type FinalActs, type UnreadPart } from "./carry-over.ts";
import { applyReceipts, readReceipts, rememberErasures, repeatErasures } from "./erasures.ts";
import { contentOf, fileDigestOf, type Manifest, readManifest } from "./manifest.ts";
import { type FetchOptions, type FoundBackup, findBackup, unreadText } from "./places.ts";
import { freeName, replaceDatabase } from "./publish.ts";
import {
  attachReplaced,
  detach,
  findLost,
  findLostLeads,
  isContinued,
  isOfSameInstance,
  type Lost,
  openSoundness,
  type Replaced,
  refuseOpen,
} from "./replaced.ts";
import { inThread, untilStopped } from "./thread.ts";

interface RestoreRequest extends Omit<FetchOptions, "folder"> {
  /** A file, `s3://bucket/prefix` for the newest backup there, or the address of one. */
  readonly named: string;
  /** A file with one receipt per line; null if none is given. */
  readonly receipts: string | null;
  readonly nowMs: number;
  /** Reports what a restore would do, and changes nothing. The server may be running. */
  readonly dryRun: boolean;
}

/** The result of a restore, as far as it is known before the database is replaced. */
export interface Restoration {
  /** The time at which the backup was made. */
  readonly madeMs: number;
  readonly leads: number;
  readonly erasedAgain: number;
  /** The number of leads that are left out because they are older than their account keeps. */
  readonly retainedOut: number;
  /** The number of accounts that are left out because they were deleted since. */
  readonly deletedAccounts: number;
  readonly lost: Lost;
  /** The parts that are carried over from the replaced file, because they must outlive a restore. */
  readonly carried: readonly CarriedPart[];
  /** The parts that cannot be carried over, because the replaced file is damaged. */
  readonly unread: readonly string[];
  /** The files whose final acts cannot be read: the replaced one, and newer backups. */
  readonly unknown: readonly { readonly file: string; readonly acts: readonly FinalActs[] }[];
  /** True if the replaced file has the acts since the backup. */
  readonly isContinuation: boolean;
  /** True if a newer backup in the same place has the erasures and revocations since the backup. */
  readonly isNewerKnown: boolean;
  /** The number of receipts that were given. */
  readonly receipts: number;
  /** The name under which the replaced file is kept; null if there is none. */
  readonly kept: string | null;
  /** One sentence for each other backup in the same place that could not be read. */
  readonly warnings: readonly string[];
}

/** Called with the report before anything is replaced. It stops the restore by throwing. */
type ConfirmRestore = (report: Restoration) => Promise<void> | void;

/** Backups of the database as a whole; a cluster cannot be restored. */
export interface Backups {
  make(file: string, nowMs: number, stop: AbortSignal): Promise<Backup>;
  /** Restores a backup, or reports what that would do. Throws a UserError if it cannot, and then nothing has changed. */
  restore(request: RestoreRequest, stop: AbortSignal, confirm: ConfirmRestore): Promise<Restoration>;
}

/** The backups of a file that only this program writes. */
export function openBackups(path: string): Backups {
  return {
    make: (file, nowMs, stop) => makeBackup(path, file, nowMs, stop),
    async restore({ named, identity, store, ...request }, stop, confirm) {
      try {
        using folder = draftFolderFor(targetOf(path));
        const fetching = findBackup(named, { folder: folder.path, identity, store, nowMs: request.nowMs });
        const { fetch, ...found } = await untilStopped(fetching, stop);
        const work = { path, folder: folder.path, ...found, ...request };
        return await inThread<typeof restoreBackup>("restoreBackup", work, stop, { fetch, confirm });
      } catch (cause) {
        throw explainFailure(cause, path);
      }
    },
  };
}

/** The file that a restore replaces: a path may be a link. */
function targetOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

/** Creates the folder of a restore on the disk of the database. Where that has no folder yet, none is created for it. */
function draftFolderFor(target: string) {
  let parent = dirname(target);
  while (!existsSync(parent)) parent = dirname(parent);
  removeAbandonedDrafts(parent, 0);
  return createDraftFolder(parent);
}

/** The functions of the main thread that a restore calls. `fetch` fetches a newer backup. */
interface RestoreFunctions extends Pick<FoundBackup, "fetch"> {
  readonly confirm: (report: Restoration) => Promise<void> | void;
}

/** A restore as its thread receives it: the backup is fetched, and the folder for drafts is chosen. */
interface RestoreWork extends Omit<RestoreRequest, "named" | "identity" | "store">, Omit<FoundBackup, "fetch"> {
  /** The database that is replaced. */
  readonly path: string;
  /** An empty folder on the disk of the database. */
  readonly folder: string;
}

/** Restores a backup in the thread. Calls `confirm` before the steps that cannot be stopped. */
export async function restoreBackup(work: RestoreWork, { fetch, confirm }: RestoreFunctions): Promise<Restoration> {
  const { path, file, folder, nowMs, dryRun } = work;
  const target = targetOf(path);
  const manifest = readManifest(file);
  const receipts = work.receipts === null ? [] : readReceipts(work.receipts);
  if (realpathSync(file) === target) throw notABackup(`${file} is the database itself.`);
  if (!dryRun && isServed(target)) refuseOpen(path);
  const draft = join(folder, "restored.db");
  let release = () => {};
  try {
    using database = await openDraft(file, draft, manifest);
    rememberErasures(database);
    // Fetching newer backups may take long. The current database stays in use until then.
    const newer = await carryFromNewer(database, work, fetch);
    if (!dryRun) release = takeLock(target, { isAlone: true }) ?? refuseOpen(path);
    const replaced = attachReplaced(database, target, dryRun ? "shared" : "exclusive", join(folder, "upgraded.db"));
    const merged = merge(database, { replaced, receipts, manifest, nowMs });
    const time = formatTime(nowMs).replaceAll(/[:.]/g, "-");
    const kept = existsSync(target) ? freeName(`${target}.replaced-${time}`) : null;
    const report = {
      ...merged,
      isNewerKnown: newer.isKnown,
      unread: merged.unread.map(({ name }) => name),
      unknown: unknownActs(
        { path, target, replaced },
        merged.unread,
        newer.unread.map((one) => one.file),
      ),
      receipts: receipts.length,
      kept,
      warnings: newer.unread.map(({ file, reason }) => unreadText(file, reason)),
    };
    if (dryRun) return report;
    sync(draft);
    await confirm(report);
    if (replaced === "nothing there" && sizeOf(target) > 0) refuseOpen(target);
    replaceDatabase(draft, target, { kept, isLogCopied: replaced === "attached" });
    // The lock on the replaced file ends here, when it no longer has the path. Closing alone may leave it to the thread's end.
    if (replaced === "attached") detach(database);
    return report;
  } catch (cause) {
    throw explainBackupFailure(cause, file, target);
  } finally {
    release();
  }
}

/** Returns the final acts that cannot be read: of a damaged file that is replaced, and of newer backups. */
function unknownActs(
  { path, target, replaced }: { readonly path: string; readonly target: string; readonly replaced: Replaced },
  unreadParts: readonly UnreadPart[],
  newer: readonly string[],
): Restoration["unknown"] {
  // An empty file is what a crash leaves of a database.
  const isDamaged = replaced === "unreadable" || (replaced === "nothing there" && existsSync(target));
  const ofReplaced = finalActs.filter((acts) => isDamaged || unreadParts.some(({ has }) => has === acts));
  return [{ file: path, acts: ofReplaced }, ...newer.map((file) => ({ file, acts: finalActs }))];
}

const finalActs: readonly FinalActs[] = ["erasures", "revocations"];

/**
 * Carries over the erasures and revocations that newer backups of the same instance know. All of them are read: a clock that
 * was ahead may have dated one that knows less.
 */
async function carryFromNewer(
  database: Connection,
  { newer, folder, nowMs, ...found }: RestoreWork,
  fetch: FoundBackup["fetch"],
) {
  const unread = [...found.unread];
  let isKnown = false;
  // The oldest backup comes first, so that the last retention period wins.
  for (const { file: address } of newer.toReversed()) {
    using aside = createDraftFolder(folder);
    try {
      const file = await fetch(address, aside.path);
      const copy = join(aside.path, "newer.db");
      (await openDraft(file, copy, readManifest(file))).$client.close();
      database.run(sql`ATTACH ${copy} AS old`);
    } catch (cause) {
      // With more room it can be read.
      if (isFull(cause)) throw cause;
      const failure = explainBackupFailure(cause, address, address);
      if (!(failure instanceof UserError)) throw failure;
      unread.push({ file: address, reason: failure.message });
      continue;
    }
    const isOfThis = isOfSameInstance(database);
    if (isOfThis) carryOver(database, nowMs, "final acts");
    detach(database);
    isKnown ||= isOfThis;
  }
  return { isKnown, unread };
}

interface MergeInput {
  readonly replaced: Replaced;
  readonly receipts: ReturnType<typeof readReceipts>;
  readonly manifest: Manifest;
  readonly nowMs: number;
}

/** Merges what must outlive the replaced file, repeats erasures, and leaves out what retention no longer keeps. */
export function merge(database: Connection, { replaced, receipts, manifest, nowMs }: MergeInput) {
  const madeMs = Date.parse(manifest.made_at);
  const isContinuation = isContinued(database);
  const isSound = openSoundness(database);
  const lostBefore = findLost(database, isSound, nowMs);
  const unknownSinceMs = endGapsOfBackup(database, madeMs, nowMs);
  const { carried, unread } =
    replaced === "nothing there" ? { carried: [], unread: [] } : carryOver(database, nowMs, "all", isSound);
  // The record of who received leads since the backup is in another file, or nowhere.
  const gap = { from: unknownSinceMs, to: Math.max(madeMs, nowMs), reason: "restore" } as const;
  if (!isContinuation || unread.length > 0) database.insert(ledgerGaps).values(gap).run();
  database.run(sql`BEGIN IMMEDIATE`);
  ensureInstance(database);
  applyReceipts(database, receipts);
  const deletedAccounts = leaveOutDeletedAccounts(database);
  const erasedAgain = repeatErasures(database);
  database.run(sql`COMMIT`);
  const lost = { ...lostBefore, leads: findLostLeads(database, isSound) };
  const retainedOut = leaveOutOlder(database, nowMs);
  skipNumbers(database);
  const count = database.values<[number]>(sql`SELECT count(*) FROM main.stored_leads`)[0]?.[0] ?? 0;
  const detail = { leads: count, erased_again: erasedAgain, older: retainedOut };
  insertAct(database, { atMs: nowMs, act: "restore", account: null, detail }).run();
  if (erasedAgain + retainedOut + deletedAccounts > 0) vacuum(database);
  return { madeMs, leads: count, erasedAgain, retainedOut, deletedAccounts, lost, carried, unread, isContinuation };
}

/** Removes accounts that were deleted since the backup, and returns their number. Their keys stay revoked (`deleted_keys`). */
function leaveOutDeletedAccounts(database: Connection): number {
  const deleted = database.select({ id: deletedAccounts.id }).from(deletedAccounts);
  const found = database.select().from(accounts).where(inArray(accounts.id, deleted)).all();
  for (const { number, id } of found) {
    database.run(sql`
      INSERT OR IGNORE INTO deleted_keys (digest, account) SELECT digest, ${id} FROM keys WHERE account = ${number}`);
    for (const statement of rowStatements(number)) database.run(statement);
    database.delete(accounts).where(eq(accounts.number, number)).run();
  }
  return found.length;
}

/** Removes leads that are older than their account keeps: the server would serve them until its retention has run. */
function leaveOutOlder(database: Connection, nowMs: number): number {
  for (const { number, retainDays } of database.select().from(accounts).where(isNotNull(accounts.retainDays)).all()) {
    const oldestMs = oldestKeptMs(retainDays, nowMs);
    database.run(forgetNumbers(and(eq(leads.account, number), lt(leads.identifiedAt, oldestMs))));
    database.run(forgetOlderNumbers(database, number, oldestMs));
  }
  database.run(sql`
    DELETE FROM main.stored_leads WHERE identified_at < (
      SELECT ${nowMs} - retain_days * ${dayMs} FROM main.accounts WHERE accounts.number = stored_leads.account)`);
  return changedRows(database);
}

/** Copies a backup and upgrades the copy to this version's schema; throws a UserError if it is not a sound backup. */
export async function openDraft(file: string, draft: string, manifest: Manifest): Promise<Connection & Disposable> {
  copyFileSync(file, draft);
  const { sha256, bytes } = await fileDigestOf(draft);
  if (bytes !== manifest.bytes) {
    throw new UserError(
      `${file} has ${bytes} bytes, but its manifest says ${manifest.bytes}.`,
      "The backup is incomplete. Use another one.",
    );
  }
  if (sha256 !== manifest.sha256) {
    throw new UserError(`${file} differs from its manifest in the SHA-256.`, "The backup is damaged. Use another one.");
  }
  if (!isSqlite(draft)) throw notABackup(`${file} is not a Leadfile database.`);
  const database = connectTo(draft, "readwrite");
  try {
    refuseUnusable(database, file);
    database.run("PRAGMA journal_mode = DELETE");
    // The draft is written to the disk before it gets the name of the database.
    database.run("PRAGMA synchronous = OFF");
    database.run("PRAGMA secure_delete = ON");
    database.run("PRAGMA temp_store = MEMORY");
    const [[reason = "nothing can be read"] = []] = database.values<[string]>(sql`PRAGMA integrity_check(1)`);
    if (reason !== "ok") throw new UserError(`${file} is damaged (${reason}).`, "Use another backup.");
    migrateSchema(database, file, "no copy");
    // Before anything is merged: a migration changes neither counts nor content.
    const { counts, content } = manifest;
    if (!Bun.deepEquals(contentOf(database), { counts, content }))
      throw new UserError(`${file} has other content than its manifest says.`, "Use another backup.");
    return database;
  } catch (cause) {
    database.$client.close();
    throw cause;
  }
}

function notABackup(what: string): UserError {
  return new UserError(what, `Pass a file that ${adminCommand} backup made.`);
}

/** Converts a failure into a UserError: names the backup if it is damaged; otherwise like explainFailure. */
export function explainBackupFailure(failure: unknown, file: string, path: string): unknown {
  const cause = underlying(failure);
  if (isDamaged(cause)) return notABackup(`${file} is not a Leadfile database, or is damaged.`);
  return explainFailure(cause, path);
}
