/** Writes what was counted to the store while the server runs: a request is on the disk a second after it was counted. */
import type { Logger } from "pino";
import { StoreFailure } from "./store/reading.ts";
import type { ServedStore } from "./store/serving.ts";
import type { Flushed } from "./store/usage.ts";

const writeMs = 500;
/** After a try that met another writer the next follows soon, an import beside it or not. */
const afterMs: Readonly<Record<Flushed, number>> = { idle: writeMs, done: writeMs, more: 0, locked: 4 };

type Complain = (failure: unknown, consequence: string) => void;

/** Begins to write; what it returns ends it. */
export function startUsageWriter(store: ServedStore, log: Logger): () => void {
  const complain: Complain = (failure, consequence) => {
    const cause = failure instanceof StoreFailure ? failure.cause : failure;
    log.error({ cause: cause instanceof Error ? cause.message : "unknown" }, consequence);
  };
  const settler = createSettler(store, complain);
  let timer = setTimeout(write, writeMs);

  function write(): void {
    let flushed: Flushed = "idle";
    try {
      flushed = store.flush();
    } catch (failure) {
      complain(failure, "usage could not be written; it is kept in memory and tried again");
    }
    settler.afterWrite(flushed);
    timer = setTimeout(write, afterMs[flushed]);
  }

  return () => {
    settler.stop();
    clearTimeout(timer);
  };
}

/** Brings what was written to the disk. However slow that is, writing goes on: only a power cut loses what is not there yet. */
function createSettler(store: ServedStore, complain: Complain) {
  let isStopped = false;
  let isSettling = false;
  let isUnsettled = false;

  async function settle(): Promise<void> {
    isSettling = true;
    isUnsettled = false;
    try {
      await store.settle();
    } catch (failure) {
      isUnsettled = true;
      // An orderly stop closes the log, and has put it on the disk before.
      if (!isStopped) complain(failure, "usage is written, but not safe from a power cut; it is tried again");
    }
    isSettling = false;
  }

  return {
    afterWrite(flushed: Flushed): void {
      if (flushed === "more" || flushed === "done") isUnsettled = true;
      if (flushed !== "more" && isUnsettled && !isSettling) void settle();
    },
    stop(): void {
      isStopped = true;
    },
  };
}
