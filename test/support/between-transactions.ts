/** What a test does between two transactions of a command that writes much, in another process. */
import { onTestFinished } from "bun:test";
import { existsSync } from "node:fs";
import { sql } from "drizzle-orm";
import type { Connection } from "../../src/db/connection.ts";
import { openAgain } from "../../src/db/open.ts";
import { until } from "./eventually.ts";

/**
 * Takes the lock for writing again and again until the command has ended, and gives its status. Each time it tells how
 * many leads there are, and writes what it is told to; the command waits meanwhile.
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
    // Somebody has much to write as long as this file is there.
    if (isLong()) writer.transaction(() => look(count(), writer), { behavior: "immediate" });
    return isOver;
  }, 5);
  return ended;
}
