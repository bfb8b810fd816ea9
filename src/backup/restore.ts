/**
 * A restore: the backup becomes the database, whole or not at all. Everything is checked and prepared in a draft beside
 * it. Renaming the draft is the only step that changes anything.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { copyDigesting, draftOf, sync } from "../db/atomic-file.ts";
import { recordAct } from "../db/audit.ts";
import type { Connection } from "../db/connection.ts";
import { asStoreError, isDamaged, isFull, saidBy } from "../db/failure.ts";
import { isSqlite } from "../db/file.ts";
import { takeLock } from "../db/locks/process-lock.ts";
import { migrateSchema, refuseUnusable } from "../db/migrate.ts";
import { vacuum } from "../db/vacuum.ts";
import { countUnblockings } from "../privacy/lift-blocks.ts";
import { ensureInstance } from "../privacy/suppressions.ts";
import type { Restoration } from "../store/backups.ts";
import { type Problem, StoreError } from "../store/errors.ts";
import { eraseAgain, leaveOutOlder, mergeReplaced } from "./carry-over.ts";
import { type Content, contentOf, type Manifest, readManifest } from "./manifest.ts";
import { attachReplaced, examineReplaced, isOfSameInstance, type Replaced, refuseOpen } from "./old-database.ts";
import { putInPlace } from "./put-in-place.ts";
import { applyReceipts, type ReceiptLine, readReceipts } from "./receipts.ts";

/** The file that a restore replaces: a path may be a link. */
export function targetOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

/**
 * Puts a backup in the place of the database. Throws a StoreError when it cannot; then all is as it was. The caller
 * removes the draft. `complete` is called once, when only what cannot be stopped is left to do.
 */
export function restoreBackup(
  path: string,
  file: string,
  receipts: string | null,
  nowMs: number,
  complete: () => void,
): Restoration {
  const target = targetOf(path);
  const manifest = readManifest(file);
  const named = receipts === null ? [] : readReceipts(receipts);
  if (realpathSync(file) === target) throw new StoreError({ kind: "backup is the database itself", file });
  mkdirSync(dirname(target), { recursive: true });
  const release = takeLock(target) ?? refuseOpen(path);
  const draft = draftOf(target);
  const place = (replaced: Replaced) => {
    sync(draft);
    complete();
    return putInPlace(draft, target, replaced, nowMs);
  };
  try {
    copyChecked(file, draft, manifest);
    return replace(openDraft(draft, file, manifest), target, named, nowMs, place);
  } catch (cause) {
    throw asStoreError(cause, (said) => problemOf(said, file, target));
  } finally {
    release();
  }
}

/** Restores a backup to another path, and gives what is in it. The caller removes the file. */
export function restoreAside(file: string, draft: string): { manifest: Manifest; found: Content } {
  const manifest = readManifest(file);
  try {
    copyChecked(file, draft, manifest);
    const database = openDraft(draft, file, manifest);
    const found = contentOf(database);
    database.$client.close();
    return { manifest, found };
  } catch (cause) {
    throw asStoreError(cause, (said) => problemOf(said, file, draft));
  }
}

function copyChecked(file: string, draft: string, manifest: Manifest): void {
  const { sha256, bytes } = copyDigesting(file, draft);
  if (bytes !== manifest.bytes) {
    throw new StoreError({ kind: "backup of another size", file, bytes, expected: manifest.bytes });
  }
  if (sha256 !== manifest.sha256) throw new StoreError({ kind: "backup of another digest", file });
}

/** Opens the draft and brings it up to the schema of this version; throws a StoreError for what is not a sound backup. */
function openDraft(draft: string, file: string, manifest: Manifest): Connection {
  if (!isSqlite(draft)) throw new StoreError({ kind: "not a backup", file });
  const client = new Database(draft, { readwrite: true });
  const database = drizzle({ client });
  refuseUnusable(database, file);
  client.run("PRAGMA journal_mode = DELETE");
  client.run("PRAGMA secure_delete = ON");
  client.run("PRAGMA temp_store = MEMORY");
  const faults = database.values<[string]>(sql`PRAGMA integrity_check(1)`);
  const reason = faults[0]?.[0] ?? "nothing can be read";
  if (reason !== "ok") throw new StoreError({ kind: "backup damaged", file, reason });
  migrateSchema(database, file, "no copy");
  const leads = countLeads(database);
  if (leads === manifest.counts.leads) return database;
  throw new StoreError({ kind: "backup of other leads", file, leads, expected: manifest.counts.leads });
}

/** Merges what must outlive the old file, erases again, and has the draft put in its place. */
function replace(
  database: Connection,
  target: string,
  receipts: readonly ReceiptLine[],
  nowMs: number,
  place: (replaced: Replaced) => string | null,
): Restoration {
  const attached = attachReplaced(database, target);
  const carried = examineReplaced(database, attached);
  const isSinceKnown = carried.unread.length > 0 || isOfSameInstance(database, carried);
  const unblockedBefore = countUnblockings(database);
  const { merged, erasedAgain, older } = database.transaction(() => {
    const merged = mergeReplaced(database, carried.readable, nowMs);
    ensureInstance(database);
    applyReceipts(database, receipts);
    return { merged, erasedAgain: eraseAgain(database), older: leaveOutOlder(database, nowMs) };
  });
  const unblockedSince = countUnblockings(database) - unblockedBefore;
  const leads = countLeads(database);
  const detail = { leads, erased_again: erasedAgain, older };
  recordAct(database, { atMs: nowMs, act: "restore", account: null, detail });
  if (erasedAgain + older > 0) vacuum(database);
  const kept = place(attached);
  // The lock on the replaced file ends here, when it is no longer at its path. Closing alone may leave it to the thread's end.
  if (attached === "attached") database.run(sql`DETACH old`);
  database.$client.close();
  const unread = carried.unread.map(({ name }) => name);
  return { leads, erasedAgain, unblockedSince, older, merged, unread, isSinceKnown, kept };
}

function countLeads(database: Connection): number {
  return database.values<[number]>(sql`SELECT count(*) FROM stored_leads`)[0]?.[0] ?? 0;
}

function problemOf(cause: unknown, file: string, path: string): Problem | null {
  if (isFull(cause)) return { kind: "disk too full to restore", path };
  if (isDamaged(cause)) return { kind: "not a backup", file };
  const reason = saidBy(cause);
  return reason === null ? null : { kind: "restore failed", path, reason };
}
