/** The time of a visit: out of the columns of a record, in which a date and a time of day may be two. */
import { withinYears } from "../../contract/calendar.ts";
import { readMoment, writeMoment } from "../../contract/time.ts";
import { UserError } from "../../user-error.ts";
import { firstText, type Row, textIn } from "../row.ts";
import {
  clockOfDecimals,
  type DateOrder,
  type ReadTime,
  readNumeric,
  readTime,
  type TimeReading,
} from "./values/times.ts";
import { readZone, type ZonedMs } from "./values/zones.ts";

/** Clocks differ a little: a time so far ahead is taken as now, one further ahead is wrong. */
const toleranceMs = 5 * 60_000;

export interface TimeRules {
  /** Whose time a lead gets. */
  readonly stamp: "source" | "arrival";
  /** The IANA name of the zone of times without an offset. */
  readonly zone: string;
  /** How the numeric dates of each column are read. */
  readonly orders: DateOrders;
  /** Whether each record was delivered by itself: nobody can correct its time, and no other record decides its order. */
  readonly ofDeliveries: boolean;
}

export interface VisitTime {
  /** The time that the source gives; null when it gives none. */
  readonly sourceMs: number | null;
  /** What it gives for a time and cannot be read: two visits may differ in nothing else. */
  readonly wrongTime?: string;
  /** The time that the lead gets; null for that of the import. */
  readonly identifiedMs: number | null;
  /** The same as it is written in a lead, if the source writes it so. */
  readonly identifiedAt?: string | undefined;
  /** Whether the time of the source is ahead of the clock. */
  readonly clamped: boolean;
  readonly warning?: ZonedMs["warning"];
}

/** A date that could be two, as long as nothing says which order its column has. */
export interface Undecided {
  readonly column: string;
  readonly text: string;
}

const untimed: VisitTime = { sourceMs: null, identifiedMs: null, clamped: false };

/** Returns the time of a row, why it cannot be one, or which column has to be decided first. */
export function readVisitTime(
  row: Row,
  rules: TimeRules,
  nowMs: number,
): VisitTime | { readonly fault: string } | { readonly undecided: Undecided } {
  const numbers = row.layout.of.identified_at;
  if (numbers === undefined) return untimed;
  const { time, column, text } = readSourceTime(row, numbers, rules);
  if (time === null) return untimed;
  const isOfArrival = rules.stamp === "arrival";
  if ("isUndecided" in time) {
    if (isOfArrival) return { ...untimed, wrongTime: text };
    if (!rules.ofDeliveries) return { undecided: { column, text } };
    return { fault: `its date can be read with the day or the month first: ${JSON.stringify(text.slice(0, 60))}` };
  }
  if ("fault" in time) return isOfArrival && rules.ofDeliveries ? { ...untimed, wrongTime: time.fault } : time;
  if (isOfArrival) return { ...untimed, sourceMs: time.ms };
  const { ms, written, warning } = time;
  if (ms > nowMs + toleranceMs) {
    return { fault: `its time is ahead of the clock: ${JSON.stringify(writeMoment(ms))}` };
  }
  const timed =
    ms > nowMs ? { identifiedMs: nowMs, clamped: true } : { identifiedMs: ms, identifiedAt: written, clamped: false };
  return warning === undefined ? { sourceMs: ms, ...timed } : { sourceMs: ms, ...timed, warning };
}

/** What the source gives as the time, with the column and the text of its date. */
interface SourceTime {
  readonly time: ReadTime | null;
  readonly column: string;
  readonly text: string;
}

const nothing: SourceTime = { time: null, column: "", text: "" };

function readSourceTime(row: Row, numbers: readonly number[], rules: TimeRules): SourceTime {
  // Most files have one column of times, which are written as a lead has them.
  const [only = 0] = numbers;
  const text = numbers.length === 1 ? firstText(row.cells[only]) : null;
  const ms = text === null ? Number.NaN : Date.parse(text);
  if (text !== null && withinYears(ms) && writeMoment(ms) === text) {
    return { time: { ms, written: text }, column: "", text };
  }
  const found = numbers.flatMap((number) => {
    const text = firstText(row.cells[number]);
    return text === null ? [] : [{ text, number }];
  });
  const [preferred] = found;
  return preferred === undefined ? nothing : readColumns(row, found, preferred, rules);
}

/** A text of a time column. */
interface TimeText {
  readonly text: string;
  readonly number: number;
}

const clockAlone = /^\d{1,2}(?::\d{2}(?::\d{2})?(?!\d)[^/]*|\s*[ap]\.?m\b.*)$|^0?[.,]\d+$/i;
/** A date without a time of day, and no number of seconds either. */
const dayAlone = /^(?!\d{10,}$)(?!.*\d:\d)(?!.*\d\s*[ap]\.?m\b)(?!\d{8}T\d)/i;
/** What programs write behind a date that has no time of day. It begins at the first of many blanks, not at each. */
const midnight = /(?<!\s)[T\s]\s*(?:00?:00(?::00(?:\.0+)?)?|12:00(?::00)?\s*AM)(?=\s*(?:Z|UTC|GMT)?$)/i;

function readColumns(row: Row, found: readonly TimeText[], preferred: TimeText, rules: TimeRules): SourceTime {
  const clock = found.find(({ text }) => clockAlone.test(text));
  const day = found.find(({ text }) => (dayAlone.test(text) || midnight.test(text)) && !clockAlone.test(text));
  const isInTwo = clock !== undefined && day !== undefined && (preferred === day || preferred === clock);
  if (!isInTwo) return read(row, found.find((other) => other !== clock) ?? preferred, null, rules);
  const date = read(row, day, null, rules);
  if (date.time === null || "fault" in date.time) return date;
  const time = ` ${clockOf(clock.text)}`;
  const text = midnight.test(day.text) ? day.text.replace(midnight, () => time) : day.text + time;
  return read(row, { text, number: day.number }, clock.number, rules);
}

/** A time of day as clocks show it, even if a spreadsheet has made it a part of a day. */
function clockOf(text: string): string {
  const part = /^0?[.,](\d+)$/.exec(text);
  return part?.[1] === undefined ? text : new Date(clockOfDecimals(part[1])).toISOString().slice(11, 23);
}

function read(row: Row, { text, number }: TimeText, clock: number | null, rules: TimeRules): SourceTime {
  const column = row.layout.names[number] ?? "";
  // Nothing in RFC 3339 has to be decided.
  const ms = readMoment(text, "down");
  if (ms !== null) return { time: { ms }, column, text };
  if (!rules.ofDeliveries && rules.stamp === "source") rules.orders.note(column, text, row.line);
  const time = readTime(text, { zone: zoneOf(row, [number, clock], rules), order: rules.orders.of(column) });
  if (!("fault" in time)) return { time, column, text };
  return { time: { fault: `${time.fault}: ${JSON.stringify(text.slice(0, 60))}` }, column, text };
}

/** The zone of times without an offset: that of the column's name, that of the row, or that of the import. */
function zoneOf(row: Row, numbers: readonly (number | null)[], rules: TimeRules): TimeReading["zone"] {
  for (const number of numbers) {
    const named = number === null ? null : row.layout.zones[number];
    if (named !== undefined && named !== null) return named;
  }
  const own = textIn(row, row.layout.of.time_zone);
  return own === null ? rules.zone : readZone(own);
}

/** The order of numeric dates, which is decided for each column of a file: one date that allows nothing else decides it. */
export interface DateOrders {
  /** The order of a column; null while it is not decided. */
  of(column: string): DateOrder | null;
  /** Records a date. Throws a UserError if it contradicts an earlier one of its column. */
  note(column: string, text: string, line: number): void;
}

/** What decided the order of a column. */
interface Evidence {
  readonly order: DateOrder;
  readonly text: string;
  readonly line: number;
}

/** The orders of the columns of a file; of all of them, if an option says so. */
export function createDateOrders(given: DateOrder | null): DateOrders {
  const decided = new Map<string, Evidence>();
  return {
    of: (column) => given ?? decided.get(column)?.order ?? null,
    note(column, text, line) {
      const order = given === null ? onlyOrderOf(text) : null;
      if (order === null) return;
      const known = decided.get(column);
      if (known === undefined) decided.set(column, { order, text, line });
      else if (known.order !== order) throw contradiction(column, known, { order, text, line });
    },
  };
}

/** Returns the only order in which a text is a date; null if there is none or more than one. */
function onlyOrderOf(text: string): DateOrder | null {
  const date = readNumeric(text);
  if (date === null || (date["day first"] === null) === (date["month first"] === null)) return null;
  return date["day first"] === null ? "month first" : "day first";
}

function contradiction(column: string, one: Evidence, other: Evidence): UserError {
  return new UserError(
    `The dates of ${JSON.stringify(column)} contradict each other: ${evidence(one)}, and ${evidence(other)}. ` +
      "Nothing was imported.",
    "Run the command again with --day-first or --month-first; dates of the other order are then rejected.",
  );
}

function evidence({ order, text, line }: Evidence): string {
  return `line ${line} can only have the ${order} (${text.slice(0, 10)})`;
}

/** The refusal of a column in which every date can be read both ways. */
export function undecided(column: string, text: string): UserError {
  return new UserError(
    `The dates of ${JSON.stringify(column)} can be read with the day or the month first (${text.slice(0, 10)}). ` +
      "Nothing was imported.",
    "Run the command again with --day-first or --month-first.",
  );
}
