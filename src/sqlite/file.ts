/** The database file as the file system sees it. */
import { closeSync, openSync, readSync, statSync } from "node:fs";

const signature = Buffer.from("SQLite format 3\0");

/** Whether a file begins as every SQLite database does; an empty one is a database without tables. */
export function isSqlite(path: string): boolean {
  const head = Buffer.alloc(signature.length);
  const file = openSync(path, "r");
  try {
    const length = readSync(file, head, 0, head.length, 0);
    return length === 0 || head.equals(signature);
  } finally {
    closeSync(file);
  }
}

/** The size of a file in bytes; 0 where there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Requests that come closer together than this share one look: it is a call to the system, a good part of each. */
const restMs = 0.25;

/**
 * Notices what SQLite does not: a file that was deleted, replaced or overwritten while it is open, whose old content
 * the process would go on serving. The check throws then.
 */
export function watchFile(path: string): () => void {
  const opened = statSync(path);
  let seenMs = opened.mtimeMs;
  let lookedMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    if (nowMs - lookedMs < restMs) return;
    const now = statSync(path, { throwIfNoEntry: false });
    if (now === undefined) throw new Error("the database file is gone; put it back or restart");
    if (now.ino !== opened.ino || now.dev !== opened.dev) {
      throw new Error("the database file was replaced; restart to serve the new one");
    }
    const touched = now.mtimeMs !== seenMs;
    if (touched && (now.size === 0 || !isSqlite(path))) {
      throw new Error("the database file was overwritten; restore it and restart");
    }
    seenMs = now.mtimeMs;
    lookedMs = nowMs;
  };
}
