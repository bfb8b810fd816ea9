/** Writes the counts to the store while the server runs: a request is on the disk a second after it was counted. */
import type { Logger } from "pino";
import { innermost } from "../db/failure.ts";
import type { Flushed } from "../db/usage.ts";
import type { ServedStore } from "./store.ts";

const writeMs = 500;
const complainEveryMs = 60_000;
/** The pause before the next attempt if another program was writing. */
const afterMs: Readonly<Record<Flushed, number>> = { idle: writeMs, done: writeMs, more: 0, locked: 4 };

type Complain = (failure: unknown, consequence: string) => void;

/** Begins to write; the function that it returns ends it. */
export function startUsageWriter(store: ServedStore, log: Logger): () => void {
  const complain = createComplaints(log);
  let isStopped = false;
  let isSyncing = false;
  let isUnsynced = false;
  let timer = setTimeout(write, writeMs);

  function write(): void {
    let flushed: Flushed = "idle";
    try {
      flushed = store.flush();
    } catch (failure) {
      complain(failure, "usage could not be written; it is kept in memory and tried again");
    }
    if (flushed === "more" || flushed === "done") isUnsynced = true;
    if (flushed !== "more" && isUnsynced && !isSyncing) void sync();
    timer = setTimeout(write, afterMs[flushed]);
  }

  /** Writing goes on, however slow the disk is: only a power cut loses what is not on the disk yet. */
  async function sync(): Promise<void> {
    isSyncing = true;
    isUnsynced = false;
    try {
      await store.fsync();
    } catch (failure) {
      isUnsynced = true;
      // An orderly stop closes the log, and writes it to the disk first.
      if (!isStopped) complain(failure, "usage is not safe from a power cut; it is tried again");
    }
    isSyncing = false;
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Reports each failure once a minute at most: it is tried again much sooner, and a full disk must not fill the log. */
function createComplaints(log: Logger): Complain {
  const saidMs = new Map<string, number>();
  return (failure, consequence) => {
    const nowMs = Date.now();
    // A clock that was set back must not silence it.
    if (Math.abs(nowMs - (saidMs.get(consequence) ?? Number.NEGATIVE_INFINITY)) < complainEveryMs) return;
    saidMs.set(consequence, nowMs);
    log.error({ cause: innermost(failure) }, consequence);
  };
}
