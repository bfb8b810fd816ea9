/**
 * The persons that commands accept: one by email address, phone, or ID of a lead, or a list of many; and the messages about
 * them.
 */
import { basename } from "node:path";
import type { Command, OptionValues } from "@commander-js/extra-typings";
import { identifierOf, type PersonIdentifier, plainText } from "../../contract/person.ts";
import type { Account } from "../../db/accounts.ts";
import { readText } from "../../db/database-files.ts";
import { listPixels } from "../../db/pixels.ts";
import { idFromSource, uuid } from "../../import/map/identity.ts";
import { firstEmail } from "../../import/map/values/emails.ts";
import { firstPhone } from "../../import/map/values/phones.ts";
import type { PersonReference } from "../../privacy/identifiers.ts";
import { UserError } from "../../runtime/user-error.ts";
import { typedPath } from "../arguments.ts";
import type { CommandContext } from "../command.ts";
import { firstOf, grouped } from "../terminal/numbers.ts";
import { readAll } from "../terminal/prompt.ts";

/** The options that name one person. Each may be -, for standard input. */
export interface IdentifierOptions {
  readonly email?: string;
  readonly phone?: string;
  readonly id?: string;
}

/** The options that name one person, or the file of a list. */
export interface PersonOptions extends IdentifierOptions {
  readonly list?: string;
}

/** Adds --email, --phone, and --id, each of which names one person. */
export function withIdentifier<Given extends unknown[], Options extends OptionValues>(
  command: Command<Given, Options>,
) {
  return command
    .option("--email <EMAIL>", "email address, in upper or lower case; - reads it from standard input")
    .option("--phone <PHONE>", "phone number, with or without the US prefix 1; - reads it from standard input")
    .option("--id <ID>", "ID of a lead, from Leadfile or the vendor; - reads it from standard input");
}

/** Adds the options that name one person, and `--list` for several. */
export function withPerson<Given extends unknown[], Options extends OptionValues>(command: Command<Given, Options>) {
  return withIdentifier(command).option(
    "--list <FILE>",
    "file with an email address, phone, ID, or SHA-256 of an email address or phone per line; - reads standard input",
    typedPath,
  );
}

/** Advice for a phone that finds nobody. */
export const otherPhones = "Phones are compared by digits: try the number with and without its country code.";

/** The limits of every search. */
export const notSearched =
  "Not searchable: values that are hashed, encoded in Base64, or encrypted, such as in page URLs.";

/** The kinds of identifiers: how a sentence calls the given one, and which values an option takes. */
export const kinds: Readonly<Record<PersonIdentifier["kind"], { readonly given: string; readonly takes: string }>> = {
  email: { given: "this email address", takes: "an email address, such as kim@example.com" },
  phone: { given: "this phone", takes: "a phone number, such as 619-555-0142" },
  id: { given: "this ID", takes: "the ID of a lead" },
};

/** Reads the persons that the options name. Throws a UserError, which never repeats the typed values. */
export async function readPersons(
  context: CommandContext,
  account: Account,
  options: PersonOptions,
): Promise<PersonReference[]> {
  const { list } = options;
  if (kindsIn(options).length + (list === undefined ? 0 : 1) !== 1) {
    throw new UserError(
      "Exactly one of --email, --phone, --id, and --list is required.",
      "For many persons, pass --list.",
      2,
    );
  }
  if (list === undefined) return [await readIdentifier(context, account, options)];
  const advice = "Pass --list a file with a line for each person, or - for standard input.";
  const text = list === "-" ? await readAll(context.standardInput(), "the list") : readText(list, advice);
  return readList(list === "-" ? "standard input" : basename(list), text, openReader(context, account));
}

/**
 * Reads the one identifier that is given by --email, --phone, or --id. Throws a UserError if there is none, more than one, or
 * one that is not valid. The message never repeats the value.
 */
export async function readIdentifier(
  context: CommandContext,
  account: Account,
  options: IdentifierOptions,
): Promise<PersonReference & PersonIdentifier> {
  const [kind, another] = kindsIn(options);
  if (kind === undefined || another !== undefined) {
    throw new UserError("Exactly one of --email, --phone, and --id is required.", "Run the command for each.", 2);
  }
  const { takes } = kinds[kind];
  const typed = options[kind] ?? "";
  const text = (typed === "-" ? await readAll(context.standardInput(), takes) : typed).trim();
  const reference = text.includes("\n") ? null : openReader(context, account)(kind, text);
  if (reference !== null) return { ...reference, kind };
  throw new UserError(`--${kind} takes ${takes}.`, "", 2);
}

function kindsIn(options: IdentifierOptions) {
  return (["email", "phone", "id"] as const).filter((kind) => options[kind] !== undefined);
}

/** Reads a text of a known kind; null if it is something else. */
type Reader = (kind: PersonReference["kind"], text: string) => PersonReference | null;

function openReader(context: CommandContext, account: Account): Reader {
  const pixelIds = listPixels(context.database().read, account.number).map(({ id }) => id);
  return (kind, text) => {
    // If a value names two persons, the second would be silently ignored. A phone with its extension has up to 19 digits.
    const plain = plainText(text);
    if (plain.split("@").length > 2 || (kind === "phone" && plain.replaceAll(/\D/g, "").length > 19)) return null;
    if (text === "") return null;
    if (kind === "email" || kind === "phone") return identifierIn(kind, text);
    const [value = text, ...furtherIds] = kind === "digest" ? [digestIn(text)] : idsFrom(text, pixelIds);
    return { kind, value, furtherIds };
  };
}

/** Returns the first address or phone in a text; null if there is none. */
function identifierIn(kind: "email" | "phone", text: string): PersonIdentifier | null {
  const found = kind === "email" ? (firstEmail([text]) ?? firstEmail([text.normalize("NFKC")])) : firstPhone([text]);
  return found === null ? null : identifierOf(kind, found.value);
}

function digestIn(text: string): string {
  return isHex(text) ? text.toLowerCase() : Buffer.from(text, "base64").toString("hex");
}

/** Returns the IDs of leads that an ID may have become. */
function idsFrom(text: string, pixelIds: readonly string[]): string[] {
  if (uuid.test(text)) return [text.toLowerCase()];
  // A vendor's ID may have become one ID for each pixel. The one without a pixel also keeps it out of later pixels.
  return [null, ...pixelIds].map((pixelId) => idFromSource(text, pixelId));
}

const isHex = (text: string) => /^[0-9a-f]{64}$/i.test(text);
const isBase64 = (text: string) => /^[\w+/-]{43}=?$/.test(text);
const writtenPhone = /^\+?[\d\s()./-]+(?:(?:x|ext\.?)\s*\d+)?$/i;
/** A vendor's ID has a digit: a word is a mistake, and so may be a longer text, such as a hash of another kind. */
const vendorId = /^(?=.*\d)[^\s@]{1,40}$/;

/** Returns the kind of identifier that a text looks like; null if it looks like none. */
function kindOf(typed: string): PersonReference["kind"] | null {
  const text = plainText(typed);
  if (text.includes("@")) return "email";
  if (isHex(text) || isBase64(text)) return "digest";
  if (uuid.test(text)) return "id";
  if (writtenPhone.test(text) && text.replaceAll(/\D/g, "").length >= 7) return "phone";
  return vendorId.test(text) ? "id" : null;
}

const columnName =
  /^(?:e-?mail|phone|lead|id|person|sha-?256|hash|digest)(?:[ _-]?(?:address|number|id|sha-?256|hash))*$/i;
const idColumn = /^(?:lead|id)(?:[ _-]?(?:number|id))*$/i;

/** Reads a list: a person on each line, or in each cell of a table. A UserError names the first wrong line, never its text. */
function readList(name: string, text: string, read: Reader): PersonReference[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  const rows = lines
    .map((line, index) => ({ line: index + 1, cells: cellsOf(line) }))
    .filter(({ cells }) => cells.join("") !== "");
  const titles = rows[0]?.cells ?? [];
  const isHeader = titles.every((title) => title === "" || columnName.test(title));
  const isId = titles.map((title) => isHeader && idColumn.test(title));
  const listed = rows.slice(isHeader ? 1 : 0).flatMap(({ line, cells }) =>
    cells.flatMap((cell, column): PersonReference[] => {
      if (cell === "") return [];
      const kind = isId[column] === true ? "id" : kindOf(cell);
      const reference = kind === null ? null : read(kind, cell);
      if (reference !== null) return [{ ...reference, line }];
      throw new UserError(
        `Line ${line} of ${name} does not name a person. Nothing was changed.`,
        "A line takes an email address, a phone, an ID, or the SHA-256 of an email address or phone. In a table, keep only such columns, and name the column of IDs id.",
      );
    }),
  );
  if (listed.length > 0) return listed;
  throw new UserError(`${name} names no person.`, "Add a line for each person.");
}

/** Splits a line of a table. No identifier contains a delimiter, so quotation marks need no parser. */
function cellsOf(line: string): string[] {
  return line.split(/[,;\t]/).map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, "$1")
      .trim(),
  );
}

/** A person that an option or a list names, and the number of different people that the person's leads name. */
export interface Found {
  readonly person: PersonReference;
  readonly people: number;
}

/** The maximum number of IDs in a message; --dry-run --json prints all of them. */
const maxIds = 100;
const maxLines = 10;
const how = "by email address, or by name if there is none";

/** Returns the beginning of a sentence about other leads that contain an identifier. */
export function othersHold(count: number): string {
  return `${grouped(count)} other ${count === 1 ? "lead contains" : "leads contain"}`;
}

/** Returns a list of IDs that ends with the number of those that are left out. */
export function idsText(ids: readonly string[]): string {
  return firstOf(ids, maxIds);
}

/** Returns a message that leads seem to name several people, with the lines of the list; null if each line names one person. */
export function severalText(found: readonly Found[]): string | null {
  const shared = found.filter(({ people }) => people > 1);
  const [one] = shared;
  if (one === undefined) return null;
  if (found.length === 1) return `These leads seem to name ${grouped(one.people)} different people (${how}).`;
  const lines = [...new Set(shared.map(({ person }) => String(person.line)))];
  const which = lines.length === 1 ? "Line" : "Each of the lines";
  return `${which} ${firstOf(lines, maxLines)} of the list seems to name several people (${how}).`;
}
