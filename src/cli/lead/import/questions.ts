/**
 * Asks at a terminal about everything that the first rows of a file leave open. Without a terminal, throws an error with the
 * flags to pass.
 */
import type { Questions, TimeColumn, UnknownPerson } from "../../../import/map/questions.ts";
import { mapOption, mapPart } from "../../../import/map/report.ts";
import { readNumeric } from "../../../import/map/values/times.ts";
import type { Undecided } from "../../../import/map/visit-time.ts";
import { adminCommand } from "../../../runtime/program-name.ts";
import { printable, UserError } from "../../../runtime/user-error.ts";
import { grouped } from "../../terminal/numbers.ts";
import { ask as askPerson } from "../../terminal/prompt.ts";
import { pad, table } from "../../terminal/table.ts";
import type { ImportRequest, ImportRun } from "./options.ts";

/** The answers to the questions: the options with which the file is read again from its beginning. */
export class Answered extends Error {
  constructor(readonly options: Partial<ImportRequest>) {
    super("the questions about the file were answered");
  }
}

const maxExampleWidth = 40;

/** A question with numbered answers. Each answer has the import options that it stands for; `none` is answer 0. */
interface Question {
  readonly text: string;
  readonly answers: readonly (readonly [line: string, options: Partial<ImportRequest>])[];
  readonly none?: readonly [line: string, options: Partial<ImportRequest>];
}

/**
 * Asks the open questions, and throws Answered with the options of the answers. Without a terminal, throws a UserError with the
 * flags to pass if the time of the visit is in doubt.
 */
export async function askAbout(found: Questions, run: ImportRun): Promise<void> {
  const { output, request, isAttended, file, pixels } = run;
  // A time that --map names needs no question.
  const time = request.map?.includes("=identified_at") === true ? null : found.time;
  if (found.people !== null) output.say(peopleText(found.people));
  if (!isAttended || file === "-") {
    if (time !== null) throw unknownTime(time, run);
    return;
  }
  const given: Partial<ImportRequest>[] = [];
  if (found.people !== null) given.push(await ask(aboutPerson(found.people)));
  if (time !== null) given.push(await ask(aboutTime(time)));
  if (found.order !== null && time === null) given.push(await ask(aboutOrder(found.order)));
  if (found.lacksPixel) given.push(await askPixel(pixels));
  if (given.every((answer) => Object.keys(answer).length === 0)) return;
  // Several answers may add to --map.
  const maps = [request.map, ...given.map(({ map }) => map)].filter((map) => map !== undefined);
  throw new Answered({ ...Object.assign({}, ...given), ...(maps.length > 0 ? { map: maps.join(",") } : {}) });
}

function aboutPerson(people: readonly UnknownPerson[]): Question {
  const offered = people.filter(({ isRepresentative }) => !isRepresentative);
  return {
    text: "Which object is the visitor?",
    answers: offered.map(({ path }) => [path, { map: mapPart(path, "person") }]),
    none: ["none of them", {}],
  };
}

function aboutTime(columns: readonly TimeColumn[]): Question {
  const width = Math.max(...columns.map(({ title }) => Bun.stringWidth(printable(title))));
  return {
    text: "Which column is the time of the visit?",
    answers: columns.map(({ title, example }) => [
      `${pad(printable(title), Math.min(width, 30))}  ${shown(example)}`,
      { map: mapPart(title, "identified_at") },
    ]),
    none: ["none: leads get the time of import", { stamp: "arrival" }],
  };
}

function aboutOrder({ column, text }: Undecided): Question {
  const date = readNumeric(text);
  const inWords = (ms: number | null | undefined) =>
    ms == null ? "" : new Date(ms).toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" });
  return {
    text: `Which date is ${shown(text)} in the column ${printable(column)}?`,
    answers: [
      [`day first:    ${inWords(date?.["day first"])}`, { dayFirst: true }],
      [`month first:  ${inWords(date?.["month first"])}`, { monthFirst: true }],
    ],
  };
}

/** Asks, up to three times, for the number of an answer. Throws a UserError if there is none. */
async function ask({ text, answers, none }: Question): Promise<Partial<ImportRequest>> {
  const numbered = new Map([...answers.entries()].map(([index, answer]) => [String(index + 1), answer]));
  if (none !== undefined) numbered.set("0", none);
  const lines = [...numbered].map(([number, [line]]) => `  ${number}  ${printable(line)}`);
  const range = [none === undefined ? 1 : 0, answers.length] as const;
  for (let tries = 0; tries < 3; tries++) {
    const typed = await askPerson(`${text}\n${lines.join("\n")}\nNumber (${range.join("-")}):`);
    const options = numbered.get(typed)?.[1];
    if (options !== undefined) return options;
    if (typed === "") break;
  }
  throw new UserError("Nothing was changed.", `Answer with a number from ${range.join(" to ")}.`);
}

async function askPixel(pixels: ReadonlySet<string>): Promise<Partial<ImportRequest>> {
  const known = [...pixels].slice(0, 20);
  const lines = ["No row names a pixel. Which pixel saw these visits?", ...known.map((id) => `  ${printable(id)}`)];
  const answer = await askPerson(`${lines.join("\n")}\nID of the pixel (a new one is created):`);
  if (answer === "") throw new UserError("Nothing was changed.", "Add --pixel ID --create-pixels.");
  return { pixel: answer, ...(pixels.has(answer) ? {} : { createPixels: true }) };
}

/** Returns a message that lists the unknown objects that name somebody, and how to make one of them the visitor. */
function peopleText(people: readonly UnknownPerson[]): string {
  const rows = people.map(({ path, has, rows }) => [path, has.join(", "), grouped(rows)]);
  const offered = people.filter(({ isRepresentative }) => !isRepresentative);
  const others = people.filter(({ isRepresentative }) => isRepresentative);
  return [
    "No visitor was found: no object that Leadfile knows names a person.",
    table(["OBJECT", "IT HAS", "ROWS"], rows),
    "To read one of them as the visitor, run the command again with:",
    ...offered.map(({ path }) => `  ${printable(mapOption(path, "person"))}`),
    ...others.map(({ path }) => `${printable(path)} is not offered: it is a representative.`),
  ].join("\n");
}

function unknownTime(columns: readonly TimeColumn[], { idOrName, file }: ImportRun): UserError {
  const known = columns.filter(({ isKnown }) => isKnown);
  const others = columns.filter(({ isKnown }) => !isKnown);
  const options = others.slice(0, maxNamedColumns).map(({ title }) => mapOption(title, "identified_at"));
  const option = options.length === 0 ? "--map COLUMN=identified_at" : options.join(" or ");
  const command = file === "-" ? `${adminCommand} lead import ${idOrName} - ${option}` : option;
  const again = file === "-" ? "Standard input cannot be read twice. Run the command again, such as " : "Add ";
  const look =
    others.length === 0 ? "" : `${titles(others)} ${others.length === 1 ? "looks like a time" : "look like times"}`;
  const [first] = known;
  const what =
    first === undefined
      ? `No known column has the time of the visit, but ${look}.`
      : `No value of ${titles(known, "or")} in the first rows is a supported time, such as ` +
        `${shown(first.example)}. ${acceptedTimes}${look === "" ? "" : ` But ${look}.`}`;
  return new UserError(what, `${again}${command}, or --stamp arrival for the time of import.`);
}

/** At most this many columns are named; a file can have thousands. */
const maxNamedColumns = 10;

function titles(columns: readonly TimeColumn[], word: "and" | "or" = "and"): string {
  const type = word === "and" ? "conjunction" : "disjunction";
  const names = columns.slice(0, maxNamedColumns).map(({ title }) => JSON.stringify(title));
  const more = columns.length - names.length;
  return new Intl.ListFormat("en", { type }).format(more === 0 ? names : [...names, `${more} more`]);
}

/** The forms of a time, for the message about one that is not understood. */
export const acceptedTimes =
  "Accepted are 2026-01-31T09:15:00Z, 2026-01-31 09:15, 01/31/2026 9:15 AM, 31.01.2026 09:15, Jan 31 2026, and Unix seconds.";

function shown(text: string): string {
  const one = printable(text);
  return one.length > maxExampleWidth ? `${one.slice(0, maxExampleWidth)}…` : one;
}
