/** What the commands share that are clients of a server: the address, the key, and the words for what fails. */
import { ApiError, Leadfile, LeadfileError, type LeadfileOptions, SettingError } from "../../client/src/leadfile.ts";
import { printable } from "../operator/printable.ts";
import { UserError } from "../operator/user-error.ts";
import type { CommandContext } from "./command.ts";
import { readFirstLine } from "./terminal/standard-input.ts";

/** A client of the server at an address; throws a UserError that says what is wrong with the address or the key. */
export function createClient(options: LeadfileOptions): Leadfile {
  try {
    return new Leadfile(options);
  } catch (cause) {
    throw refusalOf(cause);
  }
}

/** The key, from the environment or else the first line of standard input: no argument, which others could see. */
export async function readKey(context: Pick<CommandContext, "clientKey" | "standardInput">): Promise<string> {
  const key = context.clientKey() ?? (await readFirstLine(context.standardInput())).trim();
  if (key !== "") return key;
  throw new UserError("No key was given.", "Set LEADFILE_KEY, or give the key on standard input.", 2);
}

/** What ends a command, in its own words; what is no failure of the client stays as it is. */
export function refusalOf(cause: unknown): unknown {
  if (cause instanceof SettingError) return new UserError(wordsOf(cause), "", 2);
  if (cause instanceof ApiError) return new UserError(`The server refused (${cause.code}): ${wordsOf(cause)}`, "");
  return cause instanceof LeadfileError ? new UserError(wordsOf(cause), "") : cause;
}

/** The client names its settings; whoever types a command has arguments and options. */
export function wordsOf({ message }: LeadfileError): string {
  return printable(message)
    .replaceAll("baseUrl", "URL")
    .replace("allowPlainHttp: true", "--allow-plain-http")
    .replace(/^(every|overlap)\b/, "--$1")
    .replace("takes milliseconds, or a text", "takes a time");
}
