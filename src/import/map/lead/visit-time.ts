/** When a visit was: the time that its source gives, and the one that the lead gets. */
import { withinYears } from "../../../contract/calendar.ts";
import { writeMoment } from "../../../contract/time.ts";
import { type Row, textIn } from "../../row.ts";
import type { Columns } from "../columns/columns.ts";
import type { ReadTime, TimeReading } from "../values/times.ts";
import { readTimeColumns } from "./time-columns.ts";

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
  /** The same as it is written in a lead, where the source writes it so. */
  readonly identifiedAt?: string | undefined;
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
  if (time.ms > nowMs) return { sourceMs: time.ms, identifiedMs: nowMs, clamped: true };
  return { sourceMs: time.ms, identifiedMs: time.ms, identifiedAt: time.written, clamped: false };
}

/** The time that the source gives a row; null where it gives none. */
function readSourceTime(row: Row, columns: Columns, reading: TimeReading): ReadTime | null {
  const numbers = columns.of.identified_at;
  if (numbers === undefined) return null;
  // Most files have one column of times, and nothing in these has to be checked or guessed.
  const text = numbers.length === 1 ? textIn(row, numbers) : null;
  const plain = text === null ? null : readWritten(text);
  return plain ?? readTimeColumns(row, numbers, columns, reading);
}

/** Reads a moment that is written as it will be in the lead; null for any other text. */
function readWritten(text: string): ReadTime | null {
  const ms = Date.parse(text);
  return withinYears(ms) && writeMoment(ms) === text ? { ms, written: text } : null;
}
