/** Runs code of a test between two transactions of a command in another process. */
import { onTestFinished } from "bun:test";
import { existsSync } from "node:fs";
import { sql } from "drizzle-orm";
import type { Connection } from "../../src/db/connection.ts";
import { writeWhenFree } from "../../src/db/locks.ts";
import { openAgain } from "../../src/db/open.ts";
import { until } from "./eventually.ts";

/** Sends a signal to a command once it has left fewer leads than a number, before it deletes more. Returns its status. */
export function signalBelow(
  leads: number,
  file: string,
  child: Bun.Subprocess,
  signal: NodeJS.Signals,
): Promise<number> {
  let isSent = false;
  const send = (left: number) => {
    if (isSent || left >= leads) return;
    isSent = true;
    child.kill(signal);
  };
  return betweenTransactions(file, child.exited, send, () => true);
}

/**
 * Takes the write lock repeatedly until the command has ended, and returns its status. Each time it calls a function with
 * the number of leads and a connection that may write. The command waits during that time.
 */
export async function betweenTransactions(
  file: string,
  ended: Promise<number>,
  look: (leads: number, writer: Connection) => void,
  isLong = () => existsSync(`${file}.asking`),
): Promise<number> {
  const writer = openAgain(file);
  onTestFinished(() => writer.$client.close());
  const count = () => writer.values<[number]>(sql`SELECT count(*) FROM stored_leads`)[0]?.[0] ?? 0;
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  await until(() => {
    // This file exists while a command writes much.
    const lookNow = () => writer.transaction(() => look(count(), writer), { behavior: "immediate" });
    if (isLong()) writeWhenFree(writer.$client, lookNow);
    return isOver;
  }, 5);
  return ended;
}
