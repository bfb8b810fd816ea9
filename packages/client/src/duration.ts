/** Lengths of time, as people write them. */
import { SettingError } from "./errors.ts";

/** Milliseconds, or a number with its unit: "500ms", "30s", "5m", "2h", "1d". */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in milliseconds; throws a SettingError that names the setting. */
export function toMs(setting: string, duration: Duration): number {
  const [, count = "", unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration)) ?? [];
  const ms = typeof duration === "number" ? duration : Number(count || Number.NaN) * (unitMs[unit] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  throw new SettingError(`${setting} takes milliseconds, or a text such as "30s", "5m", "2h" or "1d".`);
}
