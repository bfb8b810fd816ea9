/** The context of a command, and the parts that commands have in common. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { BackupStore } from "../backup/places.ts";
import type { Backups } from "../backup/restore.ts";
import type { Config } from "../config.ts";
import type { LeadDatabase } from "../db/connection.ts";
import type { Importer } from "../import/write/import.ts";
import { adminCommand } from "../runtime/program-name.ts";
import type { ServingParts } from "../server/serve.ts";
import type { Examined, Finding } from "./doctor/finding.ts";
import type { Output } from "./terminal/output.ts";

/** The clock of a command. */
export interface Clock {
  readonly now: () => number;
  /** Resolves to false if another server of the cluster sends the alerts about shared findings. */
  readonly sendsSharedAlerts: () => Promise<boolean>;
  /** Waits some milliseconds, or until the signal is aborted. */
  readonly sleep: (ms: number, stop: AbortSignal) => Promise<void>;
}

/** The contributions of extensions and packages. src/extensions.ts has the installed ones. */
export interface Installed {
  readonly commands: () => Promise<readonly CommandEntry[]>;
  readonly findings: (examined: Examined) => Promise<readonly Finding[]>;
  /** Opens the backups of the database of this server. */
  readonly backups: () => Promise<Backups>;
  /** Loads the backup store of an extension; null if no extension has one. */
  readonly store: () => Promise<BackupStore | null>;
  /** Opens the parts of a server that extensions add, with these settings. */
  readonly serving: (config: Config) => Promise<ServingParts>;
}

/** The context of a command, which imports everything else. */
export interface CommandContext extends Clock {
  /** Loads what extensions and packages contribute. */
  readonly installed: () => Promise<Installed>;
  /** Opens the database at the first call, until the command has returned. Throws a UserError if it is missing. */
  readonly database: (ifMissing?: "create") => CommandDatabase;
  /** The result and the messages of the command that runs; JSON with --json. */
  readonly output: Output;
  readonly standardInput: () => AsyncIterable<Uint8Array>;
  /** Returns the milliseconds since the command began. */
  readonly elapsedMs: () => number;
  /** Sets the exit status of the process. */
  readonly setExitStatus: (status: number) => void;
}

/** The open database, and the part that a cluster implements differently. */
export interface CommandDatabase extends LeadDatabase {
  importer(): Promise<Importer>;
}

/** A command with any arguments and options. */
export type AnyCommand = CommandUnknownOpts;
/** Makes a command that works in a context. Making it opens nothing: the help needs no database. */
export type MakeCommand = (context: CommandContext) => AnyCommand;
type LoadCommand = () => Promise<MakeCommand>;

/** A command of `bun admin`, which is loaded when it is called. */
export interface CommandEntry {
  readonly name: string;
  /** One line for the list of commands. */
  readonly description: string;
  /** Loads the command, or the subcommand of this name. */
  readonly load: LoadCommand | Readonly<Record<string, LoadCommand>>;
  /** Examples for the help, unless the command itself has them. */
  readonly examples?: readonly string[];
}

/** A command whose help ends with examples. */
export class AdminCommand extends Command {
  constructor(
    name: string,
    readonly examples: readonly string[],
  ) {
    super(name);
  }
}

/** Returns a command that takes --json. */
export function jsonCommand(name: string, examples: readonly string[]) {
  return new AdminCommand(name, examples).option("--json", "print one JSON value on standard output");
}

/** Returns the examples of a help. The name of the program is added, unless a line has it after a pipe. */
export function examplesText(lines: readonly string[]): string {
  const whole = lines.map((line) => (line.includes(`| ${adminCommand} `) ? line : `${adminCommand} ${line}`));
  return `\nExamples:\n${whole.map((line) => `  ${line}`).join("\n")}`;
}
