/** The copies of a database that may hold erased persons: next to it, known backups, and the folders of its inbox. */
import { createReadStream, type Dirent, existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { eq, sql } from "drizzle-orm";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import {
  draftFolder,
  filesOf,
  isSqlite,
  lockRequestsOf,
  removeAbandonedDrafts,
  serverLockOf,
  sizeOf,
  spoolOf,
} from "../db/database-files.ts";
import { orElse } from "../db/failure.ts";
import { audit } from "../db/schema.ts";
import type { Matcher } from "./mentions.ts";

/** Files and folders that may hold what was erased from the database. Only the owner can delete them. */
export interface Copies {
  /** Replaced files, copies from before an upgrade, drafts that are being written, and databases that are named after this one. */
  readonly files: readonly string[];
  /** Backups that are still at their path, and the places of those in object stores. */
  readonly backups: readonly string[];
  /** Every inbox folder that was ever used. */
  readonly inboxes: readonly string[];
}

/** Finds the copies of a database, after removing the drafts that killed processes have left next to it. */
export function findCopies({ path, read }: Pick<LeadDatabase, "path" | "read">, inbox: string | null): Copies {
  const folders = new Set([dirname(resolve(path)), dirname(orElse(() => realpathSync(path), resolve(path)))]);
  for (const folder of folders) orElse(() => removeAbandonedDrafts(folder, 0), undefined);
  const known = (acts: readonly Detail[]) => new Set(acts.flatMap((act) => recorded(read, act)));
  const inboxes = known([inboxDetail]);
  if (inbox !== null) inboxes.add(resolve(inbox));
  return {
    files: [...folders].flatMap((folder) => copiesIn(folder, path)).toSorted(),
    backups: [...new Set([...known(backupDetails)].flatMap(placeOrFile))].toSorted(),
    inboxes: [...inboxes].filter((folder) => existsSync(folder)).toSorted(),
  };
}

/** Of a backup in an object store, returns the place: what is still there, only the store knows. */
function placeOrFile(file: string): string[] {
  if (file.startsWith("s3://")) return [dirname(file)];
  return existsSync(file) ? [file] : [];
}

/** The acts whose detail names a copy. */
type Detail = { readonly act: "backup" | "backup.verified" | "inbox.use"; readonly name: "file" | "folder" };
const backupDetails: readonly Detail[] = [
  { act: "backup", name: "file" },
  { act: "backup.verified", name: "file" },
];
const inboxDetail: Detail = { act: "inbox.use", name: "folder" };

function recorded(database: Connection, { act, name }: Detail): string[] {
  const value = sql<string | null>`${audit.detail} ->> ${`$.${name}`}`;
  const rows = database.selectDistinct({ value }).from(audit).where(eq(audit.act, act)).all();
  return rows.flatMap((row) => row.value ?? []);
}

/** Records that an inbox folder is used, once: files that it has imported stay in it. */
export async function recordInbox(database: LeadDatabase, folder: string, nowMs: number): Promise<void> {
  const path = resolve(folder);
  if (recorded(database.read, inboxDetail).includes(path)) return;
  const act = insertAct(database.read, { atMs: nowMs, act: inboxDetail.act, account: null, detail: { folder: path } });
  await database.write([act]);
}

function copiesIn(folder: string, database: string): string[] {
  const own = ownFiles(database);
  const name = basename(database);
  const isCopy = (path: string) =>
    !own.has(path) &&
    (new RegExp(`^${RegExp.escape(name)}\\.(?:replaced|before)-`).test(basename(path)) ||
      (basename(path).startsWith(`${name}.`) && isDatabase(path)));
  const drafts = readdirSync(folder).filter((entry) => draftFolder.test(entry));
  return [...filesIn(folder, false).filter(isCopy), ...drafts.flatMap((entry) => filesIn(join(folder, entry), true))];
}

function ownFiles(database: string): Set<string> {
  const path = resolve(database);
  const own = [...filesOf(path), serverLockOf(path), lockRequestsOf(path)];
  return new Set([...own, ...own.map((file) => orElse(() => realpathSync(file), file))]);
}

/**
 * Lists the files that are no known copies and may contain a person: the settled files of inboxes and of the spool, other databases,
 * and files that are named after this one. A pending file needs no search: its import keeps the erased out.
 */
export function listOtherFiles(database: string, { files, inboxes }: Copies): string[] {
  const isSettled = (path: string) => /^(?:done|rejected|failed)$/.test(basename(dirname(path)));
  const delivered = [spoolOf(database), ...inboxes].flatMap((folder) => filesIn(folder, true).filter(isSettled));
  const known = ownFiles(database).union(new Set(files));
  const isOther = (path: string) =>
    !known.has(path) &&
    (basename(path).startsWith(`${basename(database)}.`) || /-(?:wal|journal)$/.test(path) || isDatabase(path));
  return [...filesIn(dirname(resolve(database)), false).filter(isOther), ...delivered].toSorted();
}

function filesIn(folder: string, recursive: boolean): string[] {
  if (!existsSync(folder)) return [];
  const entries: Dirent[] = readdirSync(folder, { recursive, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Returns whether a file is a SQLite database; false if it cannot be read, because this user cannot have copied it. */
function isDatabase(path: string): boolean {
  return orElse(() => sizeOf(path) > 0 && isSqlite(path), false);
}

/** A match that begins in one chunk and ends in the next is found in the second. */
const overlapBytes = 1 << 10;

/** Returns whether a file, which may be gzipped, contains an erased person; null if it cannot be read. */
export async function searchFile(path: string, matcher: Matcher<unknown>): Promise<boolean | null> {
  try {
    for await (const text of textsOf(path)) if (matcher(text).size > 0) return true;
    return false;
  } catch {
    // The file is gone, of another user, or a damaged archive: the caller names it.
    return null;
  }
}

/** Yields the texts of a file in chunks: what a gzipped file contains may not fit into memory. */
async function* textsOf(path: string): AsyncGenerator<string> {
  const [first, second] = await Bun.file(path).slice(0, 2).bytes();
  const isPacked = first === 0x1f && second === 0x8b;
  const file = createReadStream(path);
  // The import unpacks with the same decoder. A failure to read ends both streams, as the end of the search does.
  const content = isPacked ? pipeline(file, createGunzip(), () => undefined) : file;
  let bytes = Buffer.alloc(0);
  for await (const chunk of content) {
    bytes = Buffer.concat([bytes.subarray(-overlapBytes), chunk]);
    const text = bytes.toString();
    yield text;
    // Searches again as Latin-1 (letters mostly equal Windows-1252), without the zero bytes of UTF-16.
    if (/[\0\ufffd]/.test(text)) yield bytes.toString("latin1").replaceAll("\0", "");
  }
}
