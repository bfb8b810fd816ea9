/** What the commands that ask a server share: the client, its key, and the messages of its failures. */

import type { PackageContext } from "../../../src/cli/command.ts";
import { readFirstLine } from "../../../src/cli/terminal/standard-input.ts";
import { printable } from "../../../src/operator/printable.ts";
import { UserError } from "../../../src/user-error.ts";
import {
  ApiError,
  Leadfile,
  LeadfileError,
  type LeadfileOptions,
  MissingApiKeyError,
  SettingError,
} from "../src/leadfile.ts";

/** A client of the server at an address; throws a UserError that says what is wrong with the address or the key. */
export function createClient(options: LeadfileOptions): Leadfile {
  try {
    return new Leadfile(options);
  } catch (cause) {
    throw toUserError(cause);
  }
}

/** The key, from the environment or else the first line of standard input: no argument, which others could see. */
export async function readKey({ clientKey, standardInput }: PackageContext): Promise<string> {
  const key = clientKey() ?? (await readFirstLine(standardInput(), "the key")).trim();
  if (key !== "") return key;
  throw new UserError("No key was given.", "Set LEADFILE_KEY, or give the key on standard input.", 2);
}

/** A failure of the client as a UserError; anything else as it is. */
export function toUserError(cause: unknown): unknown {
  if (cause instanceof SettingError) return new UserError(messageOf(cause), "", 2);
  if (cause instanceof ApiError) return new UserError(`The server refused (${cause.code}): ${messageOf(cause)}`, "");
  return cause instanceof LeadfileError ? new UserError(messageOf(cause), "") : cause;
}

/** The message of a failure, with the options of the command in place of the settings of the client. */
export function messageOf(error: LeadfileError): string {
  // The client has sent it: the server's advice is for others.
  if (error instanceof MissingApiKeyError) {
    return "The key was sent and did not arrive. See that no proxy before the server takes the header Authorization away.";
  }
  return printable(error.message)
    .replace(/^key\b/, "LEADFILE_KEY")
    .replaceAll("baseUrl", "URL")
    .replace("allowPlainHttp: true", "--allow-plain-http")
    .replace(/^(every|overlap)\b/, "--$1")
    .replace(/\bwith since (?=\d)/, "with --since ")
    .replace("takes milliseconds, or a text", "takes a time");
}
