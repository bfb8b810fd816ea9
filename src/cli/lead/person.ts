/** The persons that find and erase take: one by e-mail address, phone or id of a lead, or a list. */
import type { Command } from "commander";
import { emailKey, phoneKey } from "../../contract/lead.ts";
import { idFromSource } from "../../ingest/lead/identity.ts";
import { firstEmail } from "../../ingest/values/emails.ts";
import { firstPhone } from "../../ingest/values/phones.ts";
import { UserError } from "../../operator/user-error.ts";
import type { PersonIdentifier } from "../../store/identifier.ts";
import type { CommandContext } from "../command.ts";
import { readAll } from "../terminal/standard-input.ts";
import { type ListedPerson, readList, readListFile } from "./person-list.ts";

export interface PersonOptions {
  readonly email?: string;
  readonly phone?: string;
  readonly id?: string;
  readonly list?: string;
  readonly json?: boolean;
}

/** Adds the ways to name a person, or many. */
export function withPerson(command: Command): Command {
  return command
    .option("--email <EMAIL>", "by e-mail address, in whatever case; - reads it from standard input")
    .option("--phone <PHONE>", "by phone number, with or without the 1 of the US; - reads it from standard input")
    .option("--id <ID>", "by the id of a lead, ours or the vendor's; - reads it from standard input")
    .option(
      "--list <FILE>",
      "many: on each line an address, a phone, an id, or the SHA-256 of an address or phone; - reads standard input",
    );
}

interface Way {
  readonly takes: string;
  /** The value in the form in which persons are compared; null for a text that is something else. */
  readonly read: (text: string) => string | null;
}

/** The ways to name one person. */
const ways: Readonly<Record<PersonIdentifier["kind"], Way>> = {
  email: { takes: "an e-mail address, such as kim@example.com", read: readEmail },
  phone: { takes: "a phone number, such as 619-555-0142", read: readPhone },
  id: { takes: "the id of a lead", read: (text) => (text === "" ? null : idFromSource(text)) },
};

/** The persons that the options name. Throws a UserError, which never repeats what was typed. */
export async function readPersons(context: CommandContext, options: PersonOptions): Promise<ListedPerson[]> {
  const read = (text: string) => (text === "-" ? readAll(context.process.standardInput()) : text);
  const { list } = options;
  const kinds = (["email", "phone", "id"] as const).filter((kind) => options[kind] !== undefined);
  const [kind] = kinds;
  if (kinds.length + (list === undefined ? 0 : 1) !== 1) throw namedByOne();
  if (list !== undefined) return readList(list, list === "-" ? await read(list) : readListFile(list));
  if (kind === undefined) throw namedByOne();
  const text = (await read(options[kind] ?? "")).trim();
  const value = text.includes("\n") ? null : ways[kind].read(text);
  if (value !== null) return [{ line: 1, reference: { kind, value } }];
  throw new UserError(`--${kind} takes ${ways[kind].takes}.`, "", 2);
}

function namedByOne(): UserError {
  return new UserError("This takes one of --email, --phone, --id and --list.", "--list names many persons.", 2);
}

function readEmail(text: string): string | null {
  const email = firstEmail([text]);
  return email && emailKey(email.value);
}

function readPhone(text: string): string | null {
  const phone = firstPhone([text]);
  return phone && phoneKey(phone.value);
}
