/** The server's retention: at the start and once a UTC day, but not while the clock may be wrong. */
import type { Logger } from "pino";
import { dayMs, dayOf } from "../contract/calendar.ts";
import { formatTime } from "../contract/time.ts";
import { innermost } from "../db/failure.ts";
import type { ServedStore } from "./store.ts";

/** The server checks at this interval whether a new day has begun. */
const lookEveryMs = 3_600_000;

/** Applies retention once a day. Returns a function that stops it. */
export function startDailyRetention(store: ServedStore, log: Logger): () => void {
  /**
   * The difference between the wall clock and the monotonic clock. If it grows by more than a day, the wall clock may
   * be wrong.
   */
  let offsetMs = Date.now() - performance.now();
  let appliedDay = "";

  async function apply(): Promise<void> {
    const nowMs = Date.now();
    const lastOffsetMs = offsetMs;
    offsetMs = nowMs - performance.now();
    const jumped = offsetMs - lastOffsetMs > dayMs;
    const day = dayOf(nowMs);
    if (day === appliedDay) return;
    appliedDay = day;
    try {
      const { erased, waitsUntilMs } = await store.applyRetention(nowMs, jumped);
      if (erased > 0) log.info({ erased }, "leads older than the retention period of their account were erased");
      if (waitsUntilMs === null) return;
      const until = formatTime(waitsUntilMs);
      log.warn({ until }, "the clock is far ahead of the newest data and may be wrong; retention waits for a day");
    } catch (failure) {
      log.error({ cause: innermost(failure) }, "retention could not be applied; it is retried in an hour");
    }
    appliedDay = "";
  }

  void apply();
  const timer = setInterval(apply, lookEveryMs);
  return () => clearInterval(timer);
}
