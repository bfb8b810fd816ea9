/** Files beside the database that hold what was erased, such as backups, or the old file after a restore. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { inodeOf, isSqlite, openFile } from "../../db/file.ts";
import { filesOf, serverLockOf, spoolOf } from "../../store/database-files.ts";
import type { Search } from "./byte-search.ts";
import { searchFile } from "./file-search.ts";

/** The paths of those that are named for the database, or are databases, and hold one of the values. */
export function copiesWith(path: string, search: Search): string[] {
  if (search.reach === 0) return [];
  // Closing a second name of the file that is open would drop its locks.
  const own = new Set([...filesOf(path), serverLockOf(path)].map(inodeOf));
  const copies = readdirSync(dirname(path), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(dirname(path), entry.name))
    .filter((beside) => !own.has(inodeOf(beside)) && isLikely(path, beside));
  return [...copies, ...leftInSpool(spoolOf(path))].filter((beside) => holds(beside, search)).toSorted();
}

/** Deliveries that no import took. Those that still wait need no search: their import keeps the erased out. */
function leftInSpool(spool: string): string[] {
  if (!existsSync(spool)) return [];
  return readdirSync(spool, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(?:rejected|failed)$/.test(basename(entry.parentPath)))
    .map((entry) => join(entry.parentPath, entry.name));
}

function isLikely(path: string, beside: string): boolean {
  return (
    basename(beside).startsWith(`${basename(path)}.`) || /-(?:wal|journal)$/.test(beside) || isReadableSqlite(beside)
  );
}

function isReadableSqlite(path: string): boolean {
  try {
    return isSqlite(path);
  } catch {
    return false;
  }
}

/** A file that cannot be read is named too: it may hold something. */
function holds(path: string, search: Search): boolean {
  try {
    return isFoundIn(path, search);
  } catch {
    return existsSync(path);
  }
}

function isFoundIn(path: string, search: Search): boolean {
  using file = openFile(path, "r");
  let isFound = false;
  searchFile(file.descriptor, search, () => {
    isFound = true;
    return false;
  });
  return isFound;
}
