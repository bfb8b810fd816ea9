/** Time zones and offsets as files write them, and the timestamp at which the clocks of a zone show a time. */
import { clockMs } from "../../../contract/calendar.ts";

/** Abbreviations that name an offset, in hours from UTC. */
const namedOffsets: Readonly<Record<string, number>> = {
  Z: 0,
  UTC: 0,
  GMT: 0,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  CET: 1,
  CEST: 2,
};

/** The common names of the zones in the US, whether or not daylight saving time applies. */
const regions: readonly (readonly [RegExp, string])[] = [
  [/\beastern\b|^et$/i, "America/New_York"],
  [/\bcentral (?:standard |daylight )?time\b|^central$|^ct$/i, "America/Chicago"],
  [/\bmountain\b|^mt$/i, "America/Denver"],
  [/\bpacific\b|^pt$/i, "America/Los_Angeles"],
];

/** Returns the zone that a text names, or an offset such as `-05:00`; null if it names none. */
export function readZone(written: string): string | null {
  const text = written.trim();
  const region = regions.find(([name]) => name.test(text.replaceAll("_", " ")));
  if (region !== undefined && !text.includes("/")) return region[1];
  const hours = namedOffsets[text.toUpperCase()];
  if (hours !== undefined) return zoneOfOffset(hours * 3_600_000);
  // `UTC +00:00` and `+0000 UTC` say the same twice. Three digits without a colon may be minutes.
  const offset = /^(?:(?:UTC|GMT)\s*)?([+-])(\d{1,2}|\d{4}|\d{1,2}:\d{2})(?: (?:UTC|GMT))?$/i.exec(text);
  if (offset === null) return isZone(text) ? text : null;
  const [, sign, digits = ""] = offset;
  const [, hour, minute] = /^(\d{1,2})(?::?(\d{2}))?$/.exec(digits) ?? [];
  const ms = clockMs(Number(hour), Number(minute ?? 0), 0);
  return ms === null ? null : zoneOfOffset(sign === "-" ? -ms : ms);
}

function zoneOfOffset(ms: number): string {
  if (ms === 0) return "UTC";
  return (ms < 0 ? "-" : "+") + new Date(Math.abs(ms)).toISOString().slice(11, 16);
}

/** A timestamp, and whether its clock showed this time twice or never. */
export interface ZonedMs {
  readonly ms: number;
  readonly warning?: "repeated hour" | "skipped hour";
}

/**
 * Returns the timestamp at which the clocks of a zone show a time. Of two it is the earlier one; a time that is skipped
 * moves forward by the gap.
 */
export function timestampInZone(wallMs: number, zone: string): ZonedMs {
  if (zone === "UTC") return { ms: wallMs };
  const wall = Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO("UTC").toPlainDateTime();
  const zoned = wall.toZonedDateTime(zone);
  const ms = zoned.epochMilliseconds;
  if (!zoned.toPlainDateTime().equals(wall)) return { ms, warning: "skipped hour" };
  const isRepeated = wall.toZonedDateTime(zone, { disambiguation: "later" }).epochMilliseconds !== ms;
  return isRepeated ? { ms, warning: "repeated hour" } : { ms };
}

/** Returns whether a text is the name of a zone that clocks follow. */
export function isZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return !/^[+-]/.test(name);
  } catch {
    // The only failure is a name that no zone has.
    return false;
  }
}
