/** Files outside the database that may contain erased persons: copies of it, rejected rows, and delivered files. */
import { closeSync, type Dirent, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { filesOf, isSqlite, serverLockOf, sizeOf, spoolOf } from "../db/files.ts";
import type { Matcher } from "./mentions.ts";

/** Lists the copies of a database next to it, and the settled files of its inbox and its spool. */
export function filesToSearch(database: string, inbox: string | null): string[] {
  const own = new Set([...filesOf(database), serverLockOf(database)]);
  const isCopy = (path: string) =>
    !own.has(path) &&
    (basename(path).startsWith(`${basename(database)}.`) || /-(?:wal|journal)$/.test(path) || isDatabase(path));
  const copies = filesIn(dirname(database), false).filter(isCopy);
  // A pending file needs no search: its import keeps the erased out.
  const isSettled = (path: string) => /^(?:done|rejected|failed)$/.test(basename(dirname(path)));
  const delivered = [...filesIn(spoolOf(database), true), ...(inbox === null ? [] : filesIn(inbox, true))];
  return [...copies, ...delivered.filter(isSettled)].toSorted();
}

function filesIn(folder: string, recursive: boolean): string[] {
  if (!existsSync(folder)) return [];
  const entries: Dirent[] = readdirSync(folder, { recursive, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function isDatabase(path: string): boolean {
  try {
    return sizeOf(path) > 0 && isSqlite(path);
  } catch {
    // This user has made no copy that cannot be read.
    return false;
  }
}

const chunkBytes = 1 << 20;
/** A match that begins in one chunk and ends in the next is found in the first. */
const overlapBytes = 1 << 10;

/** Returns whether a file, which may be gzipped, contains an erased person; null if it cannot be read. */
export function searchFile(path: string, matcher: Matcher<unknown>): boolean | null {
  try {
    return textsOf(path).some((text) => matcher(text).size > 0);
  } catch {
    return null;
  }
}

function* textsOf(path: string): Generator<string> {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(chunkBytes + overlapBytes);
    for (let at = 0; ; at += chunkBytes) {
      const length = readSync(file, buffer, 0, buffer.length, at);
      if (length === 0) return;
      const isPacked = at === 0 && buffer[0] === 0x1f && buffer[1] === 0x8b;
      const bytes = isPacked ? gunzipSync(readFileSync(path)) : buffer.subarray(0, length);
      const text = bytes.toString();
      yield text;
      // Windows-1252 has most letters as Latin 1 has them, and UTF-16 has a zero beside each.
      if (/[\0\ufffd]/.test(text)) yield bytes.toString("latin1").replaceAll("\0", "");
      if (isPacked) return;
    }
  } finally {
    closeSync(file);
  }
}
