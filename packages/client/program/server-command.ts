/** The command of a program for any server. The failures of the client are shown in terms of its options. */
import { Command } from "commander";
import { ApiError, LeadfileError, MissingApiKeyError, NetworkError, SettingError } from "../src/leadfile.ts";
import { printable, Refusal } from "./terminal.ts";

/** Returns a command that takes the address of a server. It ends with the message of a Refusal, or of a failure of the client. */
export function serverCommand<Options>(
  name: string,
  run: (url: string, options: Options, command: Command) => Promise<void>,
): Command {
  const command = new Command(name).argument("<URL>", "base address, such as https://www.example.com");
  return command.action(async (url: string, options: Options) => {
    try {
      await run(url, options, command);
    } catch (cause) {
      const refusal = cause instanceof LeadfileError ? toRefusal(cause) : cause;
      if (!(refusal instanceof Refusal)) throw cause;
      command.error(refusal.message, { exitCode: refusal.status, code: "leadfile.refused" });
    }
  });
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
