/** The failures of the client, as the programs show them: in terms of their options. */
import type { Command } from "commander";
import { ApiError, LeadfileError, MissingApiKeyError, NetworkError, SettingError } from "../src/leadfile.ts";
import { printable, Refusal } from "./terminal.ts";

/** The action of a command that ends with the message and the status of a Refusal, or of a failure of the client. */
export function refusing<Options>(action: (url: string, options: Options, command: Command) => Promise<void>) {
  return async (url: string, options: Options, command: Command): Promise<void> => {
    try {
      await action(url, options, command);
    } catch (cause) {
      const refusal = cause instanceof LeadfileError ? toRefusal(cause) : cause;
      if (!(refusal instanceof Refusal)) throw cause;
      command.error(refusal.message, { exitCode: refusal.status, code: "leadfile.refused" });
    }
  };
}

function toRefusal(error: LeadfileError): Refusal {
  const why = error instanceof ApiError ? `The server refused (${error.code}): ` : "";
  const advice = error instanceof NetworkError ? " Check the address, and that the server runs." : "";
  return new Refusal(why + messageOf(error) + advice, error instanceof SettingError ? 2 : 1);
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
