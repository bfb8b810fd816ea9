/**
 * Requests for the lock under which one program at a time writes. SQLite lets a second writer wait, but does not tell
 * the first one. So a writer that finds the file locked requests the lock (requesting-database.ts): it adds a byte to a
 * small file beside it. Whoever has much to write looks at that file, and lets the others write first
 * (large-transactions.ts).
 */
import { appendFileSync, rmSync, statSync } from "node:fs";
import { giveToOwner } from "../atomic-file.ts";
import { lockRequestsOf } from "../database-files.ts";
import { requestEveryMs } from "./requesting-database.ts";

/** How often the writer of much looks for new requests, while it lets others write. */
const lookEveryMs = 3 * requestEveryMs;
/** How long it lets others write. Nobody needs longer: whoever still waits then has come later, and is next. */
const longestPauseMs = 500;

/** Opens the requests for a file, so that others can make them: for the writer of much. */
export function openLockRequests(path: string) {
  const file = lockRequestsOf(path);
  // Another import may remove the file at its end. That counts as a request, and begin makes the file again.
  const size = () => statSync(file, { throwIfNoEntry: false })?.size;
  let seen: number | undefined;
  return {
    /** Forgets the requests so far. To be called before the lock is taken. */
    begin(): void {
      makeFile(file, path);
      seen = size();
    },
    /** Whether there is a request since then. */
    isRequested: (): boolean => size() !== seen,
    /** Lets others write: resolves when no more requests come. To be called without the lock. */
    async letOthersWrite(): Promise<void> {
      const endMs = performance.now() + longestPauseMs;
      for (let before = seen, now = size(); before !== now && performance.now() < endMs; now = size()) {
        before = now;
        await Bun.sleep(lookEveryMs);
      }
    },
    close: (): void => rmSync(file, { force: true }),
  };
}

/** Where root runs an import, the server of another user must be able to write into the file. */
function makeFile(file: string, path: string): void {
  appendFileSync(file, "");
  if (process.getuid?.() !== 0) return;
  try {
    giveToOwner(file, path);
  } catch {
    // Nobody can request the lock, and each waits as long as SQLite lets a writer wait.
  }
}
