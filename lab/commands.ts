/** The command-line parser of the lab. A wrong flag gives a one-line error and exit status 2. */
import { Command, InvalidArgumentError } from "commander";

/** Creates a command with the name that a user types, such as `bun run bench`. */
export function labCommand(name: string, does: string): Command {
  return new Command(name).description(does).exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

/** Parses a flag that takes a positive whole number. Throws an InvalidArgumentError otherwise. */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It takes a whole number from 1 on.");
  return Number(text);
}
