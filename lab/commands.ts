/** The commands of the lab. One line says what is wrong with a flag, and the status is 2. */
import { Command, InvalidArgumentError } from "commander";

/** Returns a command as one types it, such as `bun run bench`. */
export function labCommand(name: string, does: string): Command {
  return new Command(name).description(does).exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

/** Reads the value of a flag that takes a whole number from 1 on. */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It takes a whole number from 1 on.");
  return Number(text);
}
