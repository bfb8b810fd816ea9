/** The client as the programs use it: its failures are worded in terms of their options. */
import {
  ApiError,
  Leadfile,
  LeadfileError,
  type LeadfileOptions,
  MissingApiKeyError,
  SettingError,
} from "../src/leadfile.ts";
import { printable, Refusal } from "./terminal.ts";

/** A client of the server at an address; throws a Refusal that says what is wrong with the address or the key. */
export function createClient(options: LeadfileOptions): Leadfile {
  try {
    return new Leadfile(options);
  } catch (cause) {
    throw toRefusal(cause);
  }
}

/** A failure of the client as a Refusal; anything else as it is. */
export function toRefusal(cause: unknown): unknown {
  if (cause instanceof SettingError) return new Refusal(messageOf(cause), 2);
  if (cause instanceof ApiError) return new Refusal(`The server refused (${cause.code}): ${messageOf(cause)}`);
  return cause instanceof LeadfileError ? new Refusal(messageOf(cause)) : cause;
}

/** The message of a failure, with the options of the command in place of the settings of the client. */
export function messageOf(error: LeadfileError): string {
  // The client sent the key, so the server's advice to send one does not help.
  if (error instanceof MissingApiKeyError) {
    return "The key was sent but did not arrive. Check that no proxy in front of the server removes the Authorization header.";
  }
  return printable(error.message)
    .replace(/^key\b/, "LEADFILE_KEY")
    .replaceAll("baseUrl", "URL")
    .replace("allowPlainHttp: true", "--allow-plain-http")
    .replace(/^(every|overlap)\b/, "--$1")
    .replace(/\bwith since (?=\d)/, "with --since ")
    .replace("takes milliseconds, or a text", "takes a time");
}
