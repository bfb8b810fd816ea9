/** The persons that commands take: one by email address, phone or id of a lead, or a list. */
import type { Command } from "commander";
import { emailKey, type PersonIdentifier, phoneKey } from "../../contract/person.ts";
import type { Account } from "../../db/accounts.ts";
import { listPixels } from "../../db/pixels.ts";
import { idFromSource, uuid } from "../../import/map/identity.ts";
import { firstEmail } from "../../import/map/values/emails.ts";
import { firstPhone } from "../../import/map/values/phones.ts";
import type { PersonReference } from "../../privacy/identifiers.ts";
import { UserError } from "../../user-error.ts";
import type { CommandContext } from "../command.ts";
import { readAll } from "../terminal/prompt.ts";
import { type ListedPerson, readList, readListFile } from "./person-list.ts";

export interface IdentifierOptions {
  readonly email?: string;
  readonly phone?: string;
  readonly id?: string;
  readonly json?: boolean;
}

export interface PersonOptions extends IdentifierOptions {
  readonly list?: string;
}

/** Adds the ways to name one person. */
export function withIdentifier(command: Command): Command {
  return command
    .option("--email <EMAIL>", "by email address, in whatever case; - reads it from standard input")
    .option("--phone <PHONE>", "by phone number, with or without the 1 of the US; - reads it from standard input")
    .option("--id <ID>", "by the ID of a lead, ours or the vendor's; - reads it from standard input");
}

/** The same, and a list of many. */
export function withPerson(command: Command): Command {
  return withIdentifier(command).option(
    "--list <FILE>",
    "many: on each line an address, a phone, an ID, or the SHA-256 of an address or phone; - reads standard input",
  );
}

/** What to try where a phone finds nobody. */
export const otherPhones = "A phone is compared by its digits alone: try it with its country code and without it.";

/** What no search can see through. */
export const notSearched =
  "Not searchable: the same values as a hash, in Base64, or encrypted, such as in the address of a page.";

/** What was given, in a sentence. */
export const given: Readonly<Record<PersonIdentifier["kind"], string>> = {
  email: "this email address",
  phone: "this phone",
  id: "this id",
};

interface Way {
  readonly takes: string;
  /** The values in the form in which persons are compared; none for a text that is something else. */
  readonly read: (text: string, pixelIds: () => readonly string[]) => readonly string[];
}

/** The ways to name one person. */
const ways: Readonly<Record<PersonIdentifier["kind"], Way>> = {
  email: { takes: "an email address, such as kim@example.com", read: readEmail },
  phone: { takes: "a phone number, such as 619-555-0142", read: readPhone },
  id: { takes: "the ID of a lead", read: readId },
};

/** The persons that the options name. Throws a UserError, which never repeats what was typed. */
export async function readPersons(
  context: CommandContext,
  account: Account,
  options: PersonOptions,
): Promise<ListedPerson[]> {
  const { list } = options;
  if (kindsIn(options).length + (list === undefined ? 0 : 1) !== 1) {
    throw new UserError("This takes one of --email, --phone, --id and --list.", "--list names many persons.", 2);
  }
  if (list === undefined) return [{ line: 1, reference: await readIdentifier(context, account, options) }];
  return readList(list, list === "-" ? await readInput(context, "the list") : readListFile(list));
}

/** The identifier that the options name. Throws a UserError likewise. */
export async function readIdentifier(
  context: CommandContext,
  account: Account,
  options: IdentifierOptions,
): Promise<PersonReference & PersonIdentifier> {
  const [kind, another] = kindsIn(options);
  if (kind === undefined || another !== undefined) {
    throw new UserError("This takes one of --email, --phone and --id.", "Run it for each.", 2);
  }
  const typed = options[kind] ?? "";
  const text = (typed === "-" ? await readInput(context, ways[kind].takes) : typed).trim();
  const pixelIds = () => listPixels(context.database().read, account.number).map(({ id }) => id);
  const [value, ...furtherIds] = text.includes("\n") ? [] : ways[kind].read(text, pixelIds);
  if (value !== undefined) return { kind, value, furtherIds };
  throw new UserError(`--${kind} takes ${ways[kind].takes}.`, "", 2);
}

function kindsIn(options: IdentifierOptions) {
  return (["email", "phone", "id"] as const).filter((kind) => options[kind] !== undefined);
}

function readInput(context: CommandContext, what: string): Promise<string> {
  return readAll(context.standardInput(), what);
}

function readEmail(text: string): string[] {
  const email = firstEmail([text]);
  return email === null ? [] : [emailKey(email.value)];
}

function readPhone(text: string): string[] {
  const phone = firstPhone([text]);
  return phone === null ? [] : [phoneKey(phone.value)];
}

/** A vendor's ID may have become one ID for each pixel, and one without the pixel if it was imported before version 0.3. */
function readId(text: string, pixelIds: () => readonly string[]): string[] {
  if (text === "") return [];
  if (uuid.test(text)) return [text.toLowerCase()];
  return [null, ...pixelIds()].map((pixelId) => idFromSource(text, pixelId));
}
