/** When a visit was, out of the columns of a row: a time, a date and a time of day in two columns, and their zone. */
import { readMoment, writeMoment } from "../../contract/time.ts";
import type { Columns } from "../columns/columns.ts";
import { normalizeName } from "../columns/vocabulary.ts";
import { firstText, type Row, textIn } from "../row.ts";
import { clockOfDecimals, type ReadTime, readTime, type TimeReading } from "../values/times.ts";
import { readZone } from "../values/zones.ts";

const clockAlone = /^\d{1,2}:\d{2}(?::\d{2})?\b[^/]*$|^0?[.,]\d+$/;
/** A date in which no time of day stands, and no number of seconds either. */
const dayAlone = /^(?!\d{10,}$)(?!.*\d:\d)/;
/** What programs write behind a date that has no time of day. It begins at the first of many blanks, not at each. */
const midnight = /(?<!\s)[T\s]\s*(?:00?:00(?::00(?:\.0+)?)?|12:00(?::00)?\s*AM)(?=\s*(?:Z|UTC|GMT)?$)/i;

/** Clocks differ a little: a time so far ahead is taken as now, one further ahead is wrong. */
const toleranceMs = 5 * 60_000;

export interface TimeRules extends TimeReading {
  /** Whose time a lead gets. */
  readonly stamp: "source" | "arrival";
  /** Whether a row that is stamped on arrival may have a time that cannot be read: nobody is there to mend it. */
  readonly mayHaveWrongTime: boolean;
}

export interface VisitTime {
  /** The time that the source gives; null when it gives none. */
  readonly sourceMs: number | null;
  /** What it gives for a time and cannot be read: two visits may differ in nothing else. */
  readonly wrongTime?: string;
  /** The time that the lead gets; null for that of the import. */
  readonly identifiedMs: number | null;
  /** Whether the time of the source lies ahead of the clock. */
  readonly clamped: boolean;
}

const untimed: VisitTime = { sourceMs: null, identifiedMs: null, clamped: false };

/** The time of a row, or why it cannot be one. */
export function readVisitTime(
  row: Row,
  columns: Columns,
  rules: TimeRules,
  nowMs: number,
): VisitTime | { readonly fault: string } {
  const time = readSourceTime(row, columns, rules);
  if (time === null) return untimed;
  const isOfArrival = rules.stamp === "arrival";
  if ("fault" in time) return isOfArrival && rules.mayHaveWrongTime ? { ...untimed, wrongTime: time.fault } : time;
  if (isOfArrival) return { ...untimed, sourceMs: time.ms };
  if (time.ms > nowMs + toleranceMs) {
    return { fault: `its time lies ahead of the clock: ${JSON.stringify(writeMoment(time.ms))}` };
  }
  return { sourceMs: time.ms, identifiedMs: Math.min(time.ms, nowMs), clamped: time.ms > nowMs };
}

/** The time that the source gives a row; null where it gives none. */
function readSourceTime(row: Row, columns: Columns, reading: TimeReading): ReadTime | null {
  const texts = (columns.of.identified_at ?? [])
    .map((number) => firstText(row.cells[number]))
    .filter((text) => text !== null);
  const [preferred] = texts;
  return preferred === undefined ? null : readTexts(texts, preferred, inZoneOf(row, columns, reading));
}

/** The zone of times without an offset: that of the row, but not where a name such as `Time (UTC)` says another one. */
function inZoneOf(row: Row, columns: Columns, reading: TimeReading): TimeReading {
  const own = textIn(row, columns.of.time_zone);
  if (own === null) return reading;
  const names = columns.of.identified_at?.map((number) => normalizeName(columns.titles[number] ?? "")) ?? [];
  const isUtc = names.some((name) => /(?:utc|gmt)$/.test(name));
  return { ...reading, zone: isUtc ? "UTC" : readZone(own) };
}

function readTexts(texts: readonly string[], preferred: string, reading: TimeReading): ReadTime {
  if (texts.length === 1) return read(preferred, reading);
  const clock = texts.find((text) => clockAlone.test(text));
  const day = texts.find((text) => (dayAlone.test(text) || midnight.test(text)) && !clockAlone.test(text));
  const isInTwo = clock !== undefined && day !== undefined && (preferred === day || preferred === clock);
  if (!isInTwo) return read(texts.find((text) => !clockAlone.test(text)) ?? preferred, reading);
  const date = read(day, reading);
  if ("fault" in date) return date;
  const time = ` ${clockOf(clock)}`;
  return read(midnight.test(day) ? day.replace(midnight, () => time) : day + time, reading);
}

/** A time of day as clocks show it, also where a spreadsheet has made it a part of a day. */
function clockOf(text: string): string {
  const part = /^0?[.,](\d+)$/.exec(text);
  return part?.[1] === undefined ? text : new Date(clockOfDecimals(part[1])).toISOString().slice(11, 23);
}

function read(text: string, reading: TimeReading): ReadTime {
  // Most files write times as RFC 3339 does, and nothing has to be guessed.
  const ms = readMoment(text, "down");
  if (ms !== null) return { ms };
  reading.onTime?.(text);
  const time = readTime(text, reading);
  return "fault" in time ? { fault: `${time.fault}: ${JSON.stringify(text.slice(0, 60))}` } : time;
}
