/**
 * Reads see one state of the file until somebody commits, and learn of a commit without a call to the system.
 * By itself SQLite locks and unlocks for every statement, and asking it for PRAGMA data_version does the same: four
 * calls to the system per statement, more than all else that a page out of memory costs.
 */
import type { Database } from "bun:sqlite";

export interface Snapshot {
  /** Goes on to the present state; whether others have written since the last time. */
  renew(): boolean;
  /** Lets go of the state, so that this connection can write and the log can be folded into the file. */
  release(): void;
}

/** The header of the index to the log, which every commit of any process changes (sqlite.org/walformat.html, §2.1). */
const headerWords = 12;

export function openSnapshot(client: Database, path: string): Snapshot {
  const version = client.prepare<{ data_version: number }, []>("PRAGMA data_version");
  const begin = client.prepare("BEGIN");
  const end = client.prepare("COMMIT");
  let seen = version.get()?.data_version ?? 0;
  const committed = watchCommits(path);
  let held = false;

  function release(): void {
    if (held && client.inTransaction) end.run();
    held = false;
  }

  return {
    release,
    renew() {
      if (committed()) release();
      if (held) return false;
      const now = version.get()?.data_version ?? 0;
      begin.run();
      held = true;
      const written = now !== seen;
      seen = now;
      return written;
    },
  };
}

/** Whether the header has changed since it was asked last. A look that meets a commit half done sees it again. */
function watchCommits(path: string): () => boolean {
  const shared = shareMemory(`${path}-shm`);
  // Where there is no sharing, SQLite is asked at every request.
  if (shared === null) return () => true;
  const header = new Uint32Array(shared.buffer, shared.byteOffset, headerWords);
  const last = new Uint32Array(headerWords);
  return () => {
    let changed = false;
    for (let word = 0; word < headerWords; word++) {
      const now = header[word] ?? 0;
      if (now === last[word]) continue;
      last[word] = now;
      changed = true;
    }
    return changed;
  };
}

function shareMemory(path: string): Uint8Array | null {
  try {
    return Bun.mmap(path, { shared: true });
  } catch {
    return null;
  }
}
