/** Whether the file that requests read is still the one at its path. */
import { closeSync, openSync, statSync } from "node:fs";
import { shmOf, walOf } from "../../store/database-files.ts";
import { beginsLikeSqlite, inodeOf } from "../file.ts";

/** One look in so much time is enough: it takes as long as a tenth of an answer. */
const lookEveryMs = 1;

/**
 * Notices what SQLite does not: an open file that was deleted, replaced or overwritten. Without this, the process would
 * go on serving its old content. It keeps one descriptor for as long as the database is open, because closing it would
 * drop the locks of SQLite.
 */
export function watchFile(path: string) {
  const file = openSync(path, "r");
  const opened = statSync(path);
  const beside = [walOf(path), shmOf(path)].map((part) => ({ part, inode: inodeOf(part) }));
  let seenMs = opened.mtimeMs;
  let lookedMs = Number.NEGATIVE_INFINITY;
  return {
    /**
     * Throws when the path leads to another file than the one that was opened, or to no database any more, or has no log.
     */
    assertSame() {
      const nowMs = performance.now();
      if (nowMs - lookedMs < lookEveryMs) return;
      const now = statSync(path, { throwIfNoEntry: false });
      if (now === undefined) throw new Error("the database file is gone; put it back or restart");
      if (now.ino !== opened.ino || now.dev !== opened.dev) {
        throw new Error("the database file was replaced; restart to serve the new one");
      }
      if (now.mtimeMs !== seenMs && !beginsLikeSqlite(file)) {
        throw new Error("the database file was overwritten; restore it and restart");
      }
      // Without its log, no commit of other programs gets here.
      if (beside.some(({ part, inode }) => inodeOf(part) !== inode)) {
        throw new Error("the log beside the database file was removed; restart, and leave -wal and -shm alone");
      }
      seenMs = now.mtimeMs;
      lookedMs = nowMs;
    },
    /** To be called when the database is closed, and its locks with it. */
    close: () => closeSync(file),
  };
}
