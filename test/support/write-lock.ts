/** The write lock of a database, which a test requests and takes while a command runs in another process. */
import { Database } from "bun:sqlite";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { lockRequestsOf } from "../../src/db/database-files.ts";
import { writeWhenFree } from "../../src/db/locks.ts";
import { until } from "./eventually.ts";
import type { RunningProcess } from "./process.ts";

/** Sends a signal to a command once it has left fewer leads than a number, before it deletes more. Returns its status. */
export async function signalBelow(
  leads: number,
  file: string,
  child: RunningProcess,
  signal: NodeJS.Signals,
): Promise<number> {
  for await (const now of betweenTransactions(file, child.exited, () => true)) {
    if (now.leads >= leads) continue;
    return child.end(signal);
  }
  return child.exited;
}

/**
 * Takes the write lock repeatedly until a command has ended. Each time it yields the number of leads and a connection that may
 * write, for which the command waits.
 */
export async function* betweenTransactions(
  file: string,
  ended: Promise<unknown>,
  // This file exists while a command writes much.
  isLong = () => existsSync(lockRequestsOf(file)),
): AsyncGenerator<{ readonly leads: number; readonly writer: Database }> {
  using writer = new Database(file, { readwrite: true });
  const count = writer.prepare<{ leads: number }, []>("SELECT count(*) AS leads FROM stored_leads");
  let isOver = false;
  void ended.then(() => (isOver = true));
  for (; !isOver; await Bun.sleep(2)) {
    if (!isLong()) continue;
    writeWhenFree(writer, () => writer.run("BEGIN IMMEDIATE"));
    try {
      yield { leads: count.get()?.leads ?? 0, writer };
    } finally {
      writer.run("COMMIT");
    }
  }
}

/** Accepts requests like a running import. The returned function resolves at the next request. */
export function askingFor(file: string): () => Promise<void> {
  const asking = lockRequestsOf(file);
  writeFileSync(asking, "");
  return () => {
    const before = statSync(asking).size;
    return until(() => statSync(asking).size > before);
  };
}
