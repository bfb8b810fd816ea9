/** The time of a row out of all of its columns: a time, a date and a time of day in two of them, and their zone. */
import { readMoment } from "../../../contract/time.ts";
import { firstText, type Row, textIn } from "../../row.ts";
import type { Columns } from "../columns/columns.ts";
import { normalizeName } from "../columns/vocabulary.ts";
import { clockOfDecimals, type ReadTime, readTime, type TimeReading } from "../values/times.ts";
import { readZone } from "../values/zones.ts";

const clockAlone = /^\d{1,2}:\d{2}(?::\d{2})?\b[^/]*$|^0?[.,]\d+$/;
/** A date in which no time of day stands, and no number of seconds either. */
const dayAlone = /^(?!\d{10,}$)(?!.*\d:\d)/;
/** What programs write behind a date that has no time of day. It begins at the first of many blanks, not at each. */
const midnight = /(?<!\s)[T\s]\s*(?:00?:00(?::00(?:\.0+)?)?|12:00(?::00)?\s*AM)(?=\s*(?:Z|UTC|GMT)?$)/i;

/** The time in some columns of a row; null where they have none. */
export function readTimeColumns(
  row: Row,
  numbers: readonly number[],
  columns: Columns,
  reading: TimeReading,
): ReadTime | null {
  const texts = numbers.map((number) => firstText(row.cells[number])).filter((text) => text !== null);
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
  // Of what RFC 3339 can read nothing has to be guessed.
  const ms = readMoment(text, "down");
  if (ms !== null) return { ms };
  reading.onTime?.(text);
  const time = readTime(text, reading);
  return "fault" in time ? { fault: `${time.fault}: ${JSON.stringify(text.slice(0, 60))}` } : time;
}
