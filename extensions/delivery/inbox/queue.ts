/** Counts the files in an inbox or in the spool: those that wait for their import, failed files, and rejected rows. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isFolder } from "../../../src/db/database-files.ts";
import { failedFolder, namesIn, rejectedFolder } from "./archive.ts";
import { isDropped } from "./drop-folder.ts";

type Kind = "waiting" | "failed" | "rejected";

/** Files of one kind in one folder, or in all of them. */
export interface Pending {
  /** The number of files, or of rejected rows. */
  readonly count: number;
  readonly bytes: number;
  /** The time of the oldest file, in Unix milliseconds; null if there is none. */
  readonly sinceMs: number | null;
}

export interface FolderQueue extends Readonly<Record<Kind, Pending>> {
  readonly name: string;
  readonly path: string;
}

/** Scans all folders once, and the files outside them. An unreadable folder counts as empty. */
export function readQueue(folder: string): FolderQueue[] {
  const names = namesIn(folder).filter((name) => !name.startsWith(".") && isFolder(join(folder, name)));
  return [".", ...names].map((name) => {
    const path = join(folder, name);
    const filesIn = (own: string) => namesIn(join(path, own)).map((file) => join(path, own, file));
    const waiting = namesIn(path).filter((file) => isDropped(file) || file.endsWith(".part"));
    const failed = new Set(filesIn(failedFolder));
    // The .txt file next to a failed file holds the reason. It is not counted, even after the failed file is removed.
    const isFailed = (file: string) => !file.endsWith(".txt") || failed.has(`${file}.txt`);
    return {
      name,
      path,
      waiting: sum(waiting.map((file) => countIn(join(path, file)))),
      failed: sum([...failed].filter(isFailed).map((file) => countIn(file))),
      rejected: sum(filesIn(rejectedFolder).map((file) => countIn(file, rowsIn))),
    };
  });
}

/** Adds up one kind of several folders. */
export function total(folders: readonly FolderQueue[], kind: Kind): Pending {
  return sum(folders.map((folder) => folder[kind]));
}

function sum(all: readonly Pending[]): Pending {
  const times = all.flatMap(({ sinceMs }) => sinceMs ?? []);
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    sinceMs: times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other)),
  };
}

function countIn(path: string, count: (path: string) => number = () => 1): Pending {
  const found = statSync(path, { throwIfNoEntry: false });
  // An import may have just moved the file.
  if (!found?.isFile()) return sum([]);
  // A file that keeps changing has been pending since its creation. Some file systems do not record that time.
  const sinceMs = Math.min(found.mtimeMs, found.birthtimeMs || found.mtimeMs);
  return { count: count(path), bytes: found.size, sinceMs };
}

/** Larger files are not counted to their end. */
const maxCountedBytes = 64 * 1024 * 1024;

/** Returns the rejected rows in a file: its lines, without the header of CSV. A row with line breaks counts as several. */
function rowsIn(path: string): number {
  try {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return 0;
    let lines = bytes.at(-1) === 10 ? 0 : 1;
    for (let at = bytes.indexOf(10); at !== -1 && at < maxCountedBytes; at = bytes.indexOf(10, at + 1)) lines++;
    return bytes[0] === 0x7b ? lines : Math.max(1, lines - 1);
  } catch {
    return 1; // It exists, so at least one row was rejected.
  }
}
