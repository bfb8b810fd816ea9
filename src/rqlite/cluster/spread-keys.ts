/** Keys that several nodes have counted in one minute, each with a limit of its own: a balancer should send a key to one. */
import { gte, inArray } from "drizzle-orm";
import { windowMs } from "../../contract/limits.ts";
import type { Connection } from "../../sqlite/connection.ts";
import { flushes, keys } from "../../sqlite/schema.ts";

/** What was counted longer ago says nothing of the balancer as it is now. */
const lookedAtMs = 2 * windowMs;

/** Their ids. */
export function listSpreadKeys(database: Connection, nowMs: number): string[] {
  const since = Math.floor((nowMs - lookedAtMs) / windowMs);
  const counted = database.select().from(flushes).where(gte(flushes.minute, since)).all();
  const seen = new Set<string>();
  const spread = new Set<number>();
  for (const { minute, keys: told } of counted) {
    // As each server has written it.
    const numbers: readonly number[] = JSON.parse(told);
    for (const number of numbers) {
      const one = `${minute} ${number}`;
      if (seen.has(one)) spread.add(number);
      seen.add(one);
    }
  }
  const found = database
    .select({ id: keys.id })
    .from(keys)
    .where(inArray(keys.number, [...spread]))
    .all();
  return found.map(({ id }) => id);
}
