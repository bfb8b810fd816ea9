/** The command of a program for any server. The failures of the client are shown in terms of its options. */
import { Command } from "commander";
import { ApiError, LeadfileError, MissingApiKeyError, NetworkError, SettingError } from "../src/leadfile.ts";
import { printable } from "./terminal.ts";

/** Returns a command that takes the address of a server. It ends with the message of a LeadfileError, in one line. */
export function serverCommand<Options>(
  name: string,
  run: (url: string, options: Options, command: Command) => Promise<void>,
): Command {
  const command = new Command(name).argument("<URL>", "base address, such as https://www.example.com");
  return command.action(async (url: string, options: Options) => {
    try {
      await run(url, options, command);
    } catch (cause) {
      if (!(cause instanceof LeadfileError)) throw cause;
      const why = cause instanceof ApiError ? `The server refused (${cause.code}): ` : "";
      const advice = cause instanceof NetworkError ? " Check the address, and that the server runs." : "";
      const exitCode = cause instanceof SettingError ? 2 : 1;
      command.error(why + messageOf(cause) + advice, { exitCode, code: "leadfile.refused" });
    }
  });
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
    .replace(/^(every|overlap|since)\b/, "--$1")
    .replace(/\bwith since (?=\d)/, "with --since ");
}
