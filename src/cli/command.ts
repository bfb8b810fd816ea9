/** The context of a command, and how a command is set up. */
import { Command } from "commander";
import type { LeadDatabase } from "../db/connection.ts";
import type { SourceFinder } from "../db/sources.ts";
import type { Importer } from "../import/staged-import.ts";
import { adminCommand } from "../program-name.ts";
import { createOutput, type Output } from "./terminal/output.ts";

/** The clock of a command. */
export interface Clock {
  readonly now: () => number;
  /** Waits some milliseconds, or until the signal is aborted. */
  readonly sleep: (ms: number, stop: AbortSignal) => Promise<void>;
}

/** What a command is given. Everything else it imports. */
export interface CommandContext extends Clock {
  /**
   * Opens the database at the first call. It is closed when the command has returned. Throws a UserError if there is none and
   * the command is not one that creates it.
   */
  readonly database: (ifMissing?: "create") => CommandDatabase;
  readonly standardInput: () => AsyncIterable<Uint8Array>;
  /** Sets the exit status of the process. */
  readonly endWith: (status: number) => void;
}

/** The open database, with what few commands need and a cluster does in another way. */
export interface CommandDatabase extends LeadDatabase {
  /** Loads what imports leads. */
  importer(): Promise<Importer>;
  /** Loads what looks up the sources of a webhook endpoint, as long as the database is open. */
  sourceFinder(): Promise<SourceFinder>;
}

type LoadCommand = () => Promise<(context: CommandContext) => Command>;

/** A command of `bun admin`, which is loaded when it is called. */
export interface CommandEntry {
  readonly name: string;
  /** One line for the list of commands. */
  readonly description: string;
  /** Loads the command, or only those below it that are called. */
  readonly load: LoadCommand | Readonly<Record<string, LoadCommand>>;
  /** For the help of a command whose parts are loaded one by one. */
  readonly examples?: readonly string[];
}

/** A command that takes --json and gets its output. */
export function jsonCommand(name: string): Command {
  return new Command(name).option("--json", "print one JSON value on standard output");
}

/** The output that a command was asked for. */
export function outputOf(options: { json?: boolean }): Output {
  return createOutput(options.json === true);
}

/** Examples for the help of a command. The program's name is added, unless a line has it after a pipe. */
export function examples(...lines: readonly string[]): string {
  const whole = lines.map((line) => (line.includes(adminCommand) ? line : `${adminCommand} ${line}`));
  return `\nExamples:\n${whole.map((line) => `  ${line}`).join("\n")}`;
}
