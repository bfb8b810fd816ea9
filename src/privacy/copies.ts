/** Files outside the database that may contain erased persons: copies of it, rejected rows, and delivered files. */
import { createReadStream, type Dirent, existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { filesOf, isSqlite, serverLockOf, sizeOf, spoolOf } from "../db/database-files.ts";
import { orElse } from "../db/failure.ts";
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
