/** The questions that the first rows of a file leave open: the time of the visit, the order of dates, the pixel, and the visitor. */
import { firstText, type Row, textIn } from "../row.ts";
import type { Column } from "./column.ts";
import type { Target } from "./fields.ts";
import { type LeadRules, personIn, readLead } from "./lead.ts";
import { isRepresentative, wordsOf } from "./names.ts";
import type { Origin } from "./origins.ts";
import { isTime } from "./values/times.ts";
import { readVisitTime, type Undecided } from "./visit-time.ts";

/** The questions about a file; null if there is no doubt. */
export interface Questions {
  /** The columns of which one may be the time of the visit. */
  readonly time: readonly TimeColumn[] | null;
  /** A date that can be read in both orders, as all of the first rows of its column. */
  readonly order: Undecided | null;
  /** True if no row names a pixel. */
  readonly lacksPixel: boolean;
  /** The unknown objects, one of which may be the visitor. */
  readonly people: readonly UnknownPerson[] | null;
  /** The origins of the leads in the first rows. */
  readonly origins: readonly Origin[];
}

/** A column that may be the time of the visit, with one of its values. */
export interface TimeColumn {
  readonly title: string;
  readonly example: string;
  /** True if its name is that of a time, but none of its values is understood. */
  readonly isKnown: boolean;
}

/** An unknown object that names a person. */
export interface UnknownPerson {
  readonly path: string;
  readonly has: readonly Target[];
  readonly rows: number;
  /** True of an owner, an agent, and the like, who is not the visitor. */
  readonly isRepresentative: boolean;
}

/** Finds the questions that the first rows of a file leave open. */
export function questionsIn(rows: readonly Row[], rules: LeadRules, nowMs: number): Questions {
  // A missing pixel must not hide the other questions.
  const read = rows.map((row) => readLead(row, { ...rules, pixelId: rules.pixelId ?? "px" }, nowMs));
  const undecided = read.find((one) => "undecided" in one)?.undecided ?? null;
  const isOpen = undecided !== null && rules.orders.use(undecided.column) === null;
  const namesPerson = read.some((one) => "lead" in one && one.namesPerson);
  const hasPixel = rules.pixelId !== null || rows.some((row) => textIn(row, personIn(row).of.pixel_id) !== null);
  return {
    time: rules.stamp === "arrival" ? null : timeColumns(rows, rules, nowMs),
    order: isOpen ? undecided : null,
    lacksPixel: !hasPixel && rows.length > 0,
    people: namesPerson ? null : unknownPeople(rows),
    origins: read.flatMap((one) => ("lead" in one ? [one.origin] : [])),
  };
}

/** Returns the columns that may be the time of the visit; null if one is known and understood, or if there is none. */
function timeColumns(rows: readonly Row[], rules: LeadRules, nowMs: number): TimeColumn[] | null {
  const known = new Map<Column, string[]>();
  for (const row of rows) {
    const { of } = personIn(row);
    if (isUnderstood(readVisitTime(row, of, { ...rules, stamp: "source" }, nowMs))) return null;
    for (const index of of.identified_at ?? []) {
      const text = firstText(row.cells[index]);
      const column = row.layout.columns[index];
      if (text !== null && column !== undefined) known.getOrInsert(column, []).push(text);
    }
  }
  const found = [
    ...[...known].flatMap(([{ title }, texts]) => {
      // Words in the column of the time are no time in any form: their rows are rejected.
      const example = texts.find((text) => /\d\D+\d|\d{4}/.test(text));
      return example === undefined ? [] : [{ title, example, isKnown: true }];
    }),
    ...doubtful(rows, nowMs).map(([{ title }, example]) => ({ title, example, isKnown: false })),
  ];
  return found.length === 0 ? null : found;
}

function isUnderstood(time: ReturnType<typeof readVisitTime>): boolean {
  if ("fault" in time) return time.isRead;
  return "undecided" in time || time.sourceMs !== null;
}

/** Returns the columns that are no field, and most values of which may be times, with a value of each. */
function doubtful(rows: readonly Row[], nowMs: number): (readonly [Column, string])[] {
  const seen = new Map<Column, string[]>();
  for (const { layout, cells } of rows) {
    // What a profile leaves out is known to be something else.
    const columns = layout.profile === null ? [...layout.columns.entries()] : [];
    for (const [index, column] of columns.filter(([, { mayBeTime }]) => mayBeTime)) {
      const text = firstText(cells[index]);
      if (text !== null) seen.getOrInsert(column, []).push(text);
    }
  }
  const isOften = ([{ names }, texts]: readonly [Column, readonly string[]]) => {
    const words = wordsOf(names.at(-1) ?? "");
    const isNamed = words.some((word) => timeWords.has(word));
    // `seen at` and `created on` may hold Unix times.
    const isMoment = /^(?:at|on)$/.test(words.at(-1) ?? "");
    const isOne = (text: string) => mayBeTime(text, isNamed) || (isMoment && mayBeUnixTime(text, nowMs));
    return texts.filter(isOne).length * 2 > texts.length;
  };
  return [...seen].filter(isOften).map(([column, [example = ""]]) => [column, example]);
}

/** Words in a column name that suggest a time. */
const timeWords: ReadonlySet<string> = new Set(["seen", "visited", "date", "time"]);

/** In a column that is named like a time, every text may be one, but not a number of seconds or of visits. */
function mayBeTime(text: string, isNamed: boolean): boolean {
  return isTime(text) || (isNamed && !/^[\d.,]{1,9}$/.test(text));
}

/** Returns whether a number is a Unix time between the year 2000 and now. */
function mayBeUnixTime(text: string, nowMs: number): boolean {
  if (!/^(?:\d{10}|\d{13}|\d{16})$/.test(text)) return false;
  const ms = Number(text) * 10 ** (13 - text.length);
  return ms >= Date.UTC(2000) && ms <= nowMs;
}

/** Returns the unknown objects that name somebody; null if each of them is a representative, or there is none. */
function unknownPeople(rows: readonly Row[]): UnknownPerson[] | null {
  const found = new Map<string, { has: Set<Target>; rows: Set<Row>; isRepresentative: boolean }>();
  for (const row of rows) {
    // A value that a profile leaves out names nobody: `context.library` of Segment has the name of a program.
    const columns = row.layout.profile === null ? [...row.layout.columns.entries()] : [];
    for (const [index, { strange }] of columns) {
      if (strange === null || firstText(row.cells[index]) === null) continue;
      const { around } = strange;
      const person = found.getOrInsertComputed(around.join("."), () => ({
        has: new Set(),
        rows: new Set(),
        isRepresentative: around.some(isRepresentative),
      }));
      person.has.add(strange.target);
      person.rows.add(row);
    }
  }
  // A campaign, a plan, and a form have a name too.
  const named = [...found].filter(
    ([, { has, isRepresentative }]) => isRepresentative || has.size > 1 || !has.has("name"),
  );
  const people = named.map(([path, { has, rows, isRepresentative }]) => {
    return { path, has: [...has], rows: rows.size, isRepresentative };
  });
  return people.every(({ isRepresentative }) => isRepresentative) ? null : people;
}
