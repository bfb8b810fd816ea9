/** The time of a visit, from the columns of a record, in which a date and a time of day may be two. */
import { formatTime, parseTime } from "../../contract/time.ts";
import { UserError } from "../../runtime/user-error.ts";
import type { ImportMode } from "../new-lead.ts";
import { firstText, type Row, textIn } from "../row.ts";
import type { ByField } from "./layout.ts";
import { normalizeName } from "./names.ts";
import { clockOfDecimals, type DateOrder, isTime, type ReadTime, readNumeric, readTime } from "./values/times.ts";
import { readZone, type ZonedMs } from "./values/zones.ts";

/** Clocks differ a little: a time that is less ahead of the clock counts as now, and any later one is wrong. */
const toleranceMs = 5 * 60_000;

/** The rules by which the times of one import are read. */
export interface TimeRules {
  /** The time that leads get: that of their source or that of the import. */
  readonly stamp: "source" | "arrival";
  /** The IANA name of the zone of times without an offset. */
  readonly zone: string;
  readonly orders: DateOrders;
  readonly mode: ImportMode;
}

/** The time of one visit; both times are null if the source gives none. */
export interface VisitTime {
  /** The time that the source gives; null when it gives none. */
  readonly sourceMs: number | null;
  /** A time of the source that cannot be read: two visits may differ in nothing else. */
  readonly wrongTime?: string;
  /** The time that the lead gets; null for that of the import. */
  readonly identifiedMs: number | null;
  /** The indexes of the time in its row. */
  readonly indexes: readonly number[];
  readonly warning?: ZonedMs["warning"] | "time of day";
}

/** A date that could be two, as long as nothing decides the order of its column. */
export interface Undecided {
  readonly column: string;
  readonly text: string;
}

const untimed: VisitTime = { sourceMs: null, identifiedMs: null, indexes: [] };

/** A time that a lead cannot have. */
interface FaultyTime {
  readonly fault: string;
  /** True if it was understood, but is in the future. */
  readonly isRead: boolean;
}

/** Returns the time of a row, why it cannot be one, or the date whose column has to be decided first. */
export function readVisitTime(
  row: Row,
  of: ByField,
  rules: TimeRules,
  nowMs: number,
): VisitTime | FaultyTime | { readonly undecided: Undecided } {
  const found = readSourceTime(row, of, rules);
  if (found === null) return untimed;
  const { time, column, text, indexes } = found;
  const isOfArrival = rules.stamp === "arrival";
  if ("isUndecided" in time) {
    if (isOfArrival) return { ...untimed, wrongTime: text };
    if (rules.mode !== "delivery") return { undecided: { column, text } };
    return { fault: `its date can be day first or month first: ${quoted(text)}`, isRead: true };
  }
  if ("fault" in time) {
    const fault = `${time.fault}: ${quoted(text)}`;
    return isOfArrival && rules.mode === "delivery" ? { ...untimed, wrongTime: fault } : { fault, isRead: false };
  }
  const { ms } = time;
  const warning = found.clock === undefined ? time.warning : "time of day";
  if (isOfArrival) return { ...untimed, sourceMs: ms };
  if (ms > nowMs + toleranceMs) return { fault: `its time is in the future: ${quoted(formatTime(ms))}`, isRead: true };
  const wrongTime = found.clock === undefined ? {} : { wrongTime: found.clock };
  const timed = { sourceMs: ms, identifiedMs: Math.min(ms, nowMs), indexes, ...wrongTime };
  return warning === undefined ? timed : { ...timed, warning };
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

const clockAlone = /^\d{1,2}(?::\d{2}(?::\d{2})?(?!\d)[^/]*|\s*[ap]\.?\s?m\b.*)$|^0?[.,]\d+$/i;
/** A date without a time of day, and no number of seconds either. */
const dayAlone = /^(?!\d{10,}$)(?!.*\d:\d)(?!.*\d\s*[ap]\.?\s?m\b)(?!\d{8}T\d)/i;
/** The time that programs write after a date that has none. It begins at the first of many blanks, not at each. */
const midnight = /(?<!\s)[T\s]\s*(?:00?:00(?::00(?:\.0+)?)?|12:00(?::00)?\s*AM)(?=\s*(?:Z|UTC|GMT)?$)/i;

/** Reads the time of the only column of times in RFC 3339, which nearly all files have: nothing has to be decided. */
function readAlone(row: Row, indexes: readonly number[]): ReadText | null {
  const [index] = indexes;
  const text = index === undefined || indexes.length > 1 ? null : firstText(row.cells[index]);
  const ms = text === null ? null : parseTime(text, "down");
  if (index === undefined || text === null || ms === null) return null;
  return { time: { ms }, column: columnAt(row, index), text, indexes };
}

/**
 * Reads the time of a row: of the one column that has a value, of a date and a time of day in two columns, which are joined,
 * or of the preferred one of several columns that have whole times.
 */
function readSourceTime(row: Row, of: ByField, rules: TimeRules): ReadText | null {
  const indexes = of.identified_at ?? [];
  const alone = readAlone(row, indexes);
  if (alone !== null) return alone;
  const found = indexes.flatMap((index) => {
    const text = firstText(row.cells[index]);
    if (text === null) return [];
    const isHour = /^\d{1,2}$/.test(text) && /hour/i.test(row.layout.columns[index]?.title ?? "");
    // In French, an h stands for the colon: 15h04.
    const hours = /^(\d{1,2}) ?h(?: ?(\d{2}))?$/i.exec(text);
    if (hours !== null) return { text: `${hours[1]}:${hours[2] ?? "00"}`, index };
    return { text: isHour ? `${text}:00` : text, index };
  });
  const [preferred] = found;
  if (preferred === undefined) return null;
  // A date decides the order of its column even if the row takes another time.
  if (rules.mode !== "delivery" && rules.stamp === "source") {
    for (const { text, index } of found) rules.orders.note(columnAt(row, index), text, row.line);
  }
  if (found.length === 1) return read(row, of, preferred, rules);
  const clock = found.find(({ text }) => clockAlone.test(text));
  const day = clock && dayOf(row, clock, found);
  const isInTwo = clock !== undefined && day !== undefined && (preferred === day || preferred === clock);
  if (!isInTwo) {
    const whole = found.find((other) => other !== clock) ?? preferred;
    return { ...read(row, of, whole, rules), ...unreadClock(row, whole, found) };
  }
  const date = read(row, of, day, rules);
  if ("fault" in date.time) return date;
  const time = ` ${clockOf(clock.text)}`;
  const text = midnight.test(day.text) ? day.text.replace(midnight, () => time) : day.text + time;
  return read(row, of, { text, index: day.index, clockIndex: clock.index }, rules);
}

/** The end of a name of a time of day, in the languages of the table. */
const ofClock = /(?:time|hour|clock|ofday|uhrzeit|heure|hora)$/;

/** Returns the time of day in another column of a date that has none, in a form that is not understood. */
function unreadClock(row: Row, date: TimeText, found: readonly TimeText[]): { readonly clock?: string } {
  if (!dayAlone.test(date.text) && !midnight.test(date.text)) return {};
  const clock = found.find(
    ({ text, index }) =>
      index !== date.index &&
      !clockAlone.test(text) &&
      ofClock.test(normalizeName(columnAt(row, index))) &&
      !isTime(text),
  );
  return clock === undefined ? {} : { clock: clock.text };
}

/** Returns the date of a time of day. A local time belongs to the local date, and never to an instant. */
function dayOf(row: Row, clock: TimeText, found: readonly TimeText[]): TimeText | undefined {
  const isLocal = ({ index }: TimeText) => /^local/i.test(row.layout.columns[index]?.title ?? "");
  const days = found.filter(({ text }) => (dayAlone.test(text) || midnight.test(text)) && !clockAlone.test(text));
  if (!isLocal(clock)) return days[0];
  return days.find(isLocal) ?? days.find(({ text }) => parseTime(text, "down") === null);
}

/** A time of day as clocks show it, even if a spreadsheet has made it a part of a day. */
function clockOf(text: string): string {
  const part = /^0?[.,](\d+)$/.exec(text);
  return part?.[1] === undefined ? text : new Date(clockOfDecimals(part[1])).toISOString().slice(11, 23);
}

/** A text, and the indexes of its columns. */
interface TimeText {
  readonly text: string;
  readonly index: number;
  /** The column of the time of day, if it is a separate one. */
  readonly clockIndex?: number;
}

interface ReadText {
  readonly time: ReadTime;
  readonly column: string;
  readonly text: string;
  readonly indexes: readonly number[];
  /** The time of day in another column, if it is in no form that is understood. */
  readonly clock?: string;
}

function read(row: Row, of: ByField, { text, index, clockIndex = index }: TimeText, rules: TimeRules): ReadText {
  const indexes = [...new Set([index, clockIndex])];
  const column = columnAt(row, index);
  // Nothing in RFC 3339 has to be decided.
  const ms = parseTime(text, "down");
  if (ms !== null) return { time: { ms }, column, text, indexes };
  const zone = zoneOf(row, of, indexes, rules);
  return { time: readTime(text, { zone, order: rules.orders.use(column) }), column, text, indexes };
}

function columnAt({ layout }: Row, index: number): string {
  return layout.columns[index]?.name ?? "";
}

/** The zone of times without an offset: that of the column's name, that of the row, or that of the import. */
function zoneOf(row: Row, of: ByField, indexes: readonly number[], rules: TimeRules): string | null {
  const named = indexes.map((index) => row.layout.columns[index]?.zone).find((zone) => zone != null);
  if (named != null) return named;
  const own = textIn(row, of.time_zone);
  return own === null ? rules.zone : readZone(own);
}

/** The date that decided the order of a column. */
interface Evidence {
  readonly order: DateOrder;
  readonly text: string;
  readonly line: number;
}

/** The orders of numeric dates. One date of a column that has a single order decides for the whole column. */
export class DateOrders {
  /** The first date of each order, by column. */
  private readonly found = new Map<string, Evidence[]>();
  private readonly used = new Set<string>();

  /** An order that is given holds for all columns. */
  constructor(private readonly given: DateOrder | null) {}

  /** Takes a date into account. Throws a UserError if it contradicts an earlier one of a column that is used. */
  note(column: string, text: string, line: number): void {
    const order = this.given === null ? onlyOrderOf(text) : null;
    if (order === null) return;
    const dates = this.found.getOrInsert(column, []);
    if (dates.some((date) => date.order === order)) return;
    dates.push({ order, text, line });
    if (this.used.has(column)) this.use(column);
  }

  /**
   * Returns the order of a column of which a lead gets its time; null while it is not decided. Throws a UserError if its
   * dates contradict each other.
   */
  use(column: string): DateOrder | null {
    this.used.add(column);
    const dates = this.found.get(column) ?? [];
    if (dates.length < 2) return this.given ?? dates[0]?.order ?? null;
    throw new UserError(
      `The dates of ${JSON.stringify(column)} contradict each other: ${dates.map(evidenceText).join(", and ")}. ` +
        "Nothing was imported.",
      "Run the command again with --day-first or --month-first; dates of the other order are then rejected.",
    );
  }
}

/** Returns the only order in which a text is a date; null if there is none or more than one. */
function onlyOrderOf(text: string): DateOrder | null {
  const date = readNumeric(text);
  if (date === null || (date["day first"] === null) === (date["month first"] === null)) return null;
  return date["day first"] === null ? "month first" : "day first";
}

function evidenceText({ order, text, line }: Evidence): string {
  return `line ${line} can only have the ${order} (${text.slice(0, 10)})`;
}

/** The refusal of a column in which every date can be read both ways. */
export function undecidedColumn({ column, text }: Undecided): UserError {
  return new UserError(
    `The dates of ${JSON.stringify(column)} can be day first or month first (${text.slice(0, 10)}). ` +
      "Nothing was imported.",
    "Run the command again with --day-first or --month-first.",
  );
}
