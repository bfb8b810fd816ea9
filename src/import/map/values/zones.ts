/** Time zones and offsets as files write them, and the moment at which clocks there show a time. */
import { clockMs } from "../../../contract/calendar.ts";

/** The zones that mail headers may name, in hours from UTC. */
const namedOffsets: Record<string, number> = { EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 };

/** What people in the US call the zone they live in, whichever time its clocks keep. */
const regions: readonly (readonly [RegExp, string])[] = [
  [/\beastern\b|^et$/i, "America/New_York"],
  [/\bcentral\b|^ct$/i, "America/Chicago"],
  [/\bmountain\b|^mt$/i, "America/Denver"],
  [/\bpacific\b|^pt$/i, "America/Los_Angeles"],
];

/** An offset as it may stand behind a time, as the source of a regular expression. */
export const offsetForm = String.raw`\s*(Z|UTC|GMT|(?:(?:UTC|GMT)\s*)?[+-]\d{1,2}(?::?\d{2})?(?: UTC)?|[ECMP][SD]T)?`;
const offsetAlone = new RegExp(`^${offsetForm}$`, "i");

/** The zone that a text names, an offset being one: `America/New_York`, `Eastern Time`, `GMT+5`. Null where it names none. */
export function readZone(text: string): string | null {
  const region = regions.find(([name]) => name.test(text.replaceAll("_", " ")));
  if (region !== undefined && !text.includes("/")) return region[1];
  if (text.trim() === "" || !offsetAlone.test(text)) return isZone(text) ? text : null;
  // Three digits may be hours and minutes, or the minutes that browsers count in the other direction.
  if (/^\s*[+-]\d{3}\s*$/.test(text)) return null;
  const ms = offsetMs(text);
  return ms === null ? null : zoneOfOffset(ms);
}

function zoneOfOffset(ms: number): string {
  const time = new Date(Math.abs(ms)).toISOString().slice(11, 16);
  return (ms < 0 ? "-" : "+") + time;
}

/** The milliseconds that an offset is ahead of UTC; null for what no clock shows. */
export function offsetMs(text: string): number | null {
  const offset = text.trim().toUpperCase();
  const hours = namedOffsets[offset];
  if (hours !== undefined) return hours * 3_600_000;
  // `UTC +00:00` and `+0000 UTC` say the same twice.
  const match = /([+-])(\d{1,2})(?::?(\d{2}))?(?: UTC)?$/.exec(offset);
  if (match === null) return 0;
  const ms = clockMs(Number(match[2]), Number(match[3] ?? 0), 0);
  return ms === null ? null : ms * (match[1] === "-" ? -1 : 1);
}

/** The moment at which the clocks of a zone show a time; null where they show it twice or never. */
export function momentInZone(wallMs: number, zone: string): number | null {
  if (zone === "UTC") return wallMs;
  const wall = Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO("UTC").toPlainDateTime();
  try {
    return wall.toZonedDateTime(zone, { disambiguation: "reject" }).epochMilliseconds;
  } catch {
    return null;
  }
}

/** Whether a text is the name of a zone that clocks follow. */
export function isZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
