/** The context of a command, and how a command is set up. */
import { Command } from "commander";
import type { Backups } from "../backup/restore.ts";
import type { LeadDatabase } from "../db/connection.ts";
import type { SourceFinder } from "../db/sources.ts";
import type { Importer } from "../import/staged-import.ts";
import { createOutput, type Output } from "./terminal/output.ts";
import type { Pause } from "./terminal/signals.ts";

/** What a command is given. Everything else it imports. */
export interface CommandContext {
  /**
   * Opens the database at the first call. It is closed when the command has returned. Throws a UserError if there is none and
   * the command is not one that creates it.
   */
  readonly database: (ifMissing?: "create") => LeadDatabase;
  readonly now: () => number;
  readonly pause: Pause;
  /** From here on a signal ends the process at once. */
  readonly forgetSignals: () => void;
  readonly standardInput: () => AsyncIterable<Uint8Array>;
  /** Sets the exit status of the process. */
  readonly endWith: (status: number) => void;
  /** Loads what imports leads into the same database. */
  readonly loadImporter: () => Promise<Importer>;
  /** Loads what looks up the sources of a webhook endpoint in it. */
  readonly loadSourceFinder: () => Promise<SourceFinder>;
  /** Makes and restores backups. The database is not open meanwhile. */
  readonly backups: () => Promise<Backups>;
}

/** A command of `bun admin`, which is loaded when it is called. */
export interface CommandEntry {
  readonly name: string;
  /** One line for the list of commands. */
  readonly description: string;
  readonly load: () => Promise<(context: CommandContext) => Command>;
  /** Command lines for the help, by the name of the command, such as `source create`. */
  readonly examples: Readonly<Record<string, readonly string[]>>;
}

/** A command that takes --json and gets its output. */
export function jsonCommand(name: string): Command {
  return new Command(name).option("--json", "print one JSON value on standard output");
}

/** The output that a command was asked for. */
export function outputOf(options: { json?: boolean }): Output {
  return createOutput(options.json === true);
}
