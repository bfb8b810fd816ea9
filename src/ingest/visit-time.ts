/** When a visit was, out of the columns of a row: a time, a date and a time of day in two columns, and their zone. */
import type { Columns } from "./columns.ts";
import { first } from "./details.ts";
import type { Row } from "./row.ts";
import { clockOfDecimals, type ReadTime, readTime, type TimeReading } from "./times.ts";
import { firstText } from "./values.ts";
import { normalizeName } from "./vocabulary.ts";
import { readZone } from "./zones.ts";

const clockAlone = /^\d{1,2}:\d{2}(?::\d{2})?\b[^/]*$|^0?[.,]\d+$/;
/** A date in which no time of day stands, and no number of seconds either. */
const dayAlone = /^(?!\d{10,}$)(?!.*\d:\d)/;

/** The time of a row; null where it gives none. */
export function readVisitTime(row: Row, columns: Columns, reading: TimeReading): ReadTime | null {
  const texts = (columns.of.identified_at ?? [])
    .map((number) => firstText(row.cells[number]))
    .filter((text) => text !== null);
  const [preferred] = texts;
  return preferred === undefined ? null : readTexts(texts, preferred, inZoneOf(row, columns, reading));
}

/** The zone of times without an offset: that of the row, but not where a name such as `Time (UTC)` says another one. */
function inZoneOf(row: Row, columns: Columns, reading: TimeReading): TimeReading {
  const own = first(row, columns.of.time_zone, firstText);
  if (own === null) return reading;
  const names = columns.of.identified_at?.map((number) => normalizeName(columns.titles[number] ?? "")) ?? [];
  const isUtc = names.some((name) => /(?:utc|gmt)$/.test(name));
  return { ...reading, zone: isUtc ? "UTC" : readZone(own) };
}

function readTexts(texts: readonly string[], preferred: string, reading: TimeReading): ReadTime {
  if (texts.length === 1) return read(preferred, reading);
  const clock = texts.find((text) => clockAlone.test(text));
  const day = texts.find((text) => dayAlone.test(text) && !clockAlone.test(text));
  const isInTwo = clock !== undefined && day !== undefined && (preferred === day || preferred === clock);
  if (!isInTwo) return read(texts.find((text) => !clockAlone.test(text)) ?? preferred, reading);
  const date = read(day, reading);
  return "fault" in date ? date : read(`${day} ${clockOf(clock)}`, reading);
}

/** A time of day as clocks show it, also where a spreadsheet has made it a part of a day. */
function clockOf(text: string): string {
  const part = /^0?[.,](\d+)$/.exec(text);
  return part?.[1] === undefined ? text : new Date(clockOfDecimals(part[1])).toISOString().slice(11, 23);
}

function read(text: string, reading: TimeReading): ReadTime {
  const time = readTime(text, reading);
  return "fault" in time ? { fault: `${time.fault}: ${quoted(text)}` } : time;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
