/** One person, as the commands are told of them: by e-mail address, phone or the id of a lead. */
import type { Command } from "commander";
import { emailKey, phoneKey } from "../../contract/lead.ts";
import { firstEmail } from "../../ingest/emails.ts";
import { idFromSource } from "../../ingest/identity.ts";
import { firstPhone } from "../../ingest/phones.ts";
import { UserError } from "../../operator/user-error.ts";
import type { PersonTrait } from "../../store/privacy.ts";
import type { Surroundings } from "../command.ts";
import { readAll } from "../terminal/standard-input.ts";

export interface PersonOptions {
  readonly email?: string;
  readonly phone?: string;
  readonly id?: string;
  readonly json?: boolean;
}

/** Adds the three ways to name a person. */
export function withPerson(command: Command): Command {
  return command
    .option("--email <EMAIL>", "by e-mail address, in whatever case; - reads it from standard input")
    .option("--phone <PHONE>", "by the digits of a phone number; - reads it from standard input")
    .option("--id <ID>", "by the id of a lead, the source's own or ours; - reads it from standard input");
}

/** The person that is meant; throws a UserError, which never repeats what was given. */
export async function readPerson(around: Surroundings, { email, phone, id }: PersonOptions): Promise<PersonTrait> {
  const given = Object.entries({ email, phone, id }).flatMap(([kind, text]) =>
    text === undefined ? [] : [{ kind, text }],
  );
  const [one] = given;
  if (one === undefined || given.length > 1) {
    throw new UserError(
      "A person is named by one of --email, --phone and --id.",
      "With - it is read from standard input.",
      2,
    );
  }
  const text = (one.text === "-" ? await readAll(around.standardInput()) : one.text).trim();
  const person = text.includes("\n") ? null : traitOf(one.kind, text);
  if (person !== null) return person;
  throw new UserError(`What was given for --${one.kind} is none.`, "Give one e-mail address, phone number or id.", 2);
}

/** In the form in which leads are stored. */
function traitOf(kind: string, text: string): PersonTrait | null {
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
