/** The persons whom a command is about: one by e-mail address, phone or the id of a lead, or a list of them. */
import type { Command } from "commander";
import { emailKey, phoneKey } from "../../contract/lead.ts";
import { firstEmail } from "../../ingest/emails.ts";
import { idFromSource } from "../../ingest/identity.ts";
import { firstPhone } from "../../ingest/phones.ts";
import { UserError } from "../../operator/user-error.ts";
import type { PersonIdentifier } from "../../store/privacy.ts";
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

/** The persons that are meant; throws a UserError, which never repeats what was given. */
export async function readPersons(
  context: CommandContext,
  { email, phone, id, list }: PersonOptions,
): Promise<ListedPerson[]> {
  const given = Object.entries({ email, phone, id, list }).flatMap(([kind, text]) =>
    text === undefined ? [] : [{ kind, text }],
  );
  const [one] = given;
  if (one === undefined || given.length > 1) {
    throw new UserError(
      "A person is named by one of --email, --phone and --id, and many by --list.",
      "With - it is read from standard input.",
      2,
    );
  }
  if (one.kind === "list") {
    const text = one.text === "-" ? await readAll(context.standardInput()) : readListFile(one.text);
    return readList(one.text, text);
  }
  const text = (one.text === "-" ? await readAll(context.standardInput()) : one.text).trim();
  const reference = text.includes("\n") ? null : identifierOf(one.kind, text);
  if (reference !== null) return [{ line: 1, reference }];
  throw new UserError(`What was given for --${one.kind} is none.`, "Give one e-mail address, phone number or id.", 2);
}

/** In the form in which persons are compared. */
function identifierOf(kind: string, text: string): PersonIdentifier | null {
  if (kind === "email") {
    const email = firstEmail([text]).value;
    return email === null ? null : { kind, value: emailKey(email) };
  }
  if (kind === "phone") {
    const phone = firstPhone([text]).value;
    return phone === null ? null : { kind, value: phoneKey(phone) };
  }
  return text === "" ? null : { kind: "id", value: idFromSource(text) };
}
