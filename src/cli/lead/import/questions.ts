/** Asks at a terminal what the first rows of a file leave open. Without a terminal, the flags to pass are an error. */
import type { aliases } from "../../../import/map/fields.ts";
import type { Questions, TimeColumn, UnknownPerson } from "../../../import/map/questions.ts";
import { mapOption } from "../../../import/map/report.ts";
import { readNumeric } from "../../../import/map/values/times.ts";
import type { Undecided } from "../../../import/map/visit-time.ts";
import { adminCommand } from "../../../runtime/program-name.ts";
import { printable, UserError } from "../../../runtime/user-error.ts";
import { grouped } from "../../terminal/numbers.ts";
import { ask } from "../../terminal/prompt.ts";
import { pad, table } from "../../terminal/table.ts";
import type { ImportRequest, ImportRun } from "./options.ts";

/** The answers to the questions, as options with which the file is read from its beginning. */
export class Answered extends Error {
  constructor(readonly options: Partial<ImportRequest>) {
    super("the questions about the file were answered");
  }
}

const maxExampleWidth = 40;

/**
 * Asks each question that is open, and throws Answered with the options that the answers are. Nobody can answer without a
 * terminal: throws a UserError with the flags if the time of the visit is in doubt.
 */
export async function askAbout(found: Questions, run: ImportRun): Promise<void> {
  const { output, request, isAttended, file } = run;
  // What --map names is not asked.
  const time = request.map?.includes("=identified_at") === true ? null : found.time;
  if (found.people !== null) output.say(peopleText(found.people));
  if (!isAttended || file === "-") {
    if (time !== null) throw unknownTime(time, run);
    return;
  }
  const answers: Partial<ImportRequest>[] = [];
  if (found.people !== null) answers.push(await askPerson(found.people));
  if (time !== null) answers.push(await askTime(time));
  if (found.order !== null && time === null) answers.push(await askOrder(found.order));
  if (found.lacksPixel) answers.push(await askPixel(run.pixels));
  const given = answers.filter((answer) => Object.keys(answer).length > 0);
  if (given.length > 0) throw new Answered(joined(request, given));
}

/** Joins answers, of which several may add to --map. */
function joined({ map }: ImportRequest, answers: readonly Partial<ImportRequest>[]): Partial<ImportRequest> {
  const maps = [map, ...answers.map((answer) => answer.map)].filter((part) => part !== undefined);
  return { ...Object.assign({}, ...answers), ...(maps.length > 0 ? { map: maps.join(",") } : {}) };
}

async function askTime(columns: readonly TimeColumn[]): Promise<Partial<ImportRequest>> {
  const width = Math.max(...columns.map(({ title }) => Bun.stringWidth(printable(title))));
  const lines = columns.map(({ title, example }) => `${pad(printable(title), Math.min(width, 30))}  ${shown(example)}`);
  const number = await askNumber("Which column is the time of the visit?", lines, "none: leads get the time of import");
  const column = columns[number - 1];
  return column === undefined ? { stamp: "arrival" } : { map: mapPart(column.title, "identified_at") };
}

async function askOrder({ column, text }: Undecided): Promise<Partial<ImportRequest>> {
  const date = readNumeric(text);
  const inWords = (ms: number | null | undefined) =>
    ms == null ? "" : new Date(ms).toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" });
  const lines = [`day first:    ${inWords(date?.["day first"])}`, `month first:  ${inWords(date?.["month first"])}`];
  const question = `Which date is ${shown(text)} in the column ${printable(column)}?`;
  return (await askNumber(question, lines, null)) === 1 ? { dayFirst: true } : { monthFirst: true };
}

async function askPixel(pixels: ReadonlySet<string>): Promise<Partial<ImportRequest>> {
  const known = [...pixels].slice(0, 20);
  const lines = ["No row names a pixel. Which pixel saw these visits?", ...known.map((id) => `  ${printable(id)}`)];
  const answer = await ask(`${lines.join("\n")}\nID of the pixel (a new one is created):`);
  if (answer === "") throw new UserError("Nothing was changed.", "Add --pixel ID --create-pixels.");
  return { pixel: answer, ...(pixels.has(answer) ? {} : { createPixels: true }) };
}

async function askPerson(people: readonly UnknownPerson[]): Promise<Partial<ImportRequest>> {
  const offered = people.filter(({ isRepresentative }) => !isRepresentative);
  const lines = offered.map(({ path }) => printable(path));
  const number = await askNumber("Which object is the visitor?", lines, "none of them");
  const chosen = offered[number - 1];
  return chosen === undefined ? {} : { map: mapPart(chosen.path, "person") };
}

/** Asks for one of some lines, or for none of them. */
async function askNumber(question: string, lines: readonly string[], none: string | null): Promise<number> {
  const first = none === null ? 1 : 0;
  const listed = [...lines.map((line, index) => `  ${index + 1}  ${line}`), ...(none === null ? [] : [`  0  ${none}`])];
  const text = `${question}\n${listed.join("\n")}\nNumber (${first}-${lines.length}):`;
  for (let tries = 0; tries < 3; tries++) {
    const answer = await ask(text);
    if (/^\d{1,4}$/.test(answer) && Number(answer) >= first && Number(answer) <= lines.length) return Number(answer);
    if (answer === "") break;
  }
  throw new UserError("Nothing was changed.", `Answer with a number from ${first} to ${lines.length}.`);
}

/** Says which unknown objects name somebody, and how one of them is made the visitor. */
export function peopleText(people: readonly UnknownPerson[]): string {
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

/** A part of --map, quoted like CSV. */
function mapPart(name: string, target: keyof typeof aliases | "person"): string {
  const part = `${name}=${target}`;
  return /[,"]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part;
}
