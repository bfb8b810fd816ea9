/**
 * The programs that keep reading the file of a node. While one reads, rqlite cannot checkpoint the WAL, and applies nothing
 * until it can.
 */
import { readFileSync } from "node:fs";
import { inodeOf, shmOf } from "../../src/db/database-files.ts";
import { orElse } from "../../src/db/failure.ts";

/** The bytes of the WAL index that SQLite locks while it reads. */
const readLocks = { first: 123, last: 127 };
/** The time in which a program that reads often, such as a busy server, is seen without a lock. */
const looks = 10;
const pauseMs = 50;

/** Returns the programs of this machine that read a file during the whole of half a second, such as `sqlite3 (process 812)`. */
export async function findLongReaders(path: string): Promise<string[]> {
  let holders = holdersOf(path);
  for (let look = 1; look < looks && holders.size > 0; look++) {
    await Bun.sleep(pauseMs);
    holders = holders.intersection(holdersOf(path));
  }
  const programOf = (process: string) => readIfThere(`/proc/${process}/comm`).trim() || "a program";
  return [...holders].map((process) => `${programOf(process)} (process ${process})`);
}

/** Returns the processes that have a read lock. Linux lists those of other containers only outside of them. */
function holdersOf(path: string): Set<string> {
  const inode = inodeOf(shmOf(path));
  const locks = readIfThere("/proc/locks").split("\n");
  const holders = locks.flatMap((lock) => {
    const [, process, lockedInode, first] = /POSIX +\S+ +READ +(\d+) \w+:\w+:(\d+) (\d+) \d+/.exec(lock) ?? [];
    const isReading = Number(first) >= readLocks.first && Number(first) <= readLocks.last;
    return process !== undefined && lockedInode === String(inode) && isReading ? [process] : [];
  });
  return new Set(holders);
}

/** Returns an empty text for a process that has ended, and on systems other than Linux. */
const readIfThere = (path: string) => orElse(() => readFileSync(path, "utf8"), "");
