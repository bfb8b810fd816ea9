/** The names of UTC days. */
import { dayMs, dayOf } from "../contract/time.ts";

/** Names the UTC day of a moment. Formatting a date costs more than counting, so the name is kept until the day is over. */
export function createCalendar(): (nowMs: number) => string {
  let day = { startMs: Number.NaN, name: "" };
  return (nowMs) => {
    const startMs = nowMs - (nowMs % dayMs);
    if (startMs !== day.startMs) day = { startMs, name: dayOf(nowMs) };
    return day.name;
  };
}
