/** The server's retention: at the start and once a UTC day. Leads that only the clock makes due are kept until a person confirms. */
import type { Logger } from "pino";
import { dayOf } from "../contract/calendar.ts";
import { innermost } from "../db/failure.ts";
import { adminCommand } from "../runtime/program-name.ts";
import type { ServedStore } from "./store.ts";

/** The server checks at this interval whether a new day has begun. */
const lookEveryMs = 3_600_000;

/** Applies retention once a day. Returns a function that stops it. */
export function startDailyRetention(store: ServedStore, log: Logger): () => void {
  const now = store.now ?? Date.now;
  let appliedDay = "";

  async function apply(): Promise<void> {
    const nowMs = now();
    const day = dayOf(nowMs);
    if (day === appliedDay) return;
    appliedDay = day;
    try {
      const { erased, waiting } = await store.applyRetention(nowMs);
      if (erased > 0) log.info({ erased }, "leads older than the retention period of their account were erased");
      for (const { account, days, older: leads, doubt } of waiting) {
        const repeat = `${adminCommand} retain ${account} --days ${days}`;
        log.warn({ account, leads, doubt }, `retention waits for a person; check the clock, then run: ${repeat}`);
      }
    } catch (failure) {
      log.error({ cause: innermost(failure) }, "retention could not be applied; it is retried in an hour");
      appliedDay = "";
    }
  }

  void apply();
  const timer = setInterval(apply, lookEveryMs);
  return () => clearInterval(timer);
}
