/** What every command is given, and how it is set up. */
import { Command } from "commander";
import type { Logger } from "pino";
import type { Cluster } from "../../extensions/cluster/cluster/node-status.ts";
import type { Config } from "../config.ts";
import type { LeadDatabase } from "../db/connection.ts";
import type { AdminStore } from "../store/admin.ts";
import type { Backups } from "../store/backups.ts";
import type { Examine } from "../store/examination.ts";
import type { UserError } from "../user-error.ts";
import { createOutput, type Output } from "./terminal/output.ts";
import type { Pause } from "./terminal/signals.ts";

/** What `receive` runs with. */
interface ReceivingParts {
  readonly address: { readonly host: string; readonly port: number; readonly tls: Config["tls"] };
  readonly baseUrl: string;
  readonly trustProxy: boolean;
  readonly log: Logger;
  /** Starts a command of this program beside this process. */
  readonly startCompanion: (args: readonly string[]) => { stop(): Promise<void> };
}

/** What a command is given: the store, the clock, the environment and the process that it runs in. */
export interface CommandContext {
  /** Opens the store at the first call. */
  readonly store: () => AdminStore;
  /** Opens the database at the first call. It is closed when the command has returned. */
  readonly database: () => LeadDatabase;
  /** Makes and restores backups. The store is not open meanwhile. */
  readonly backups: () => Backups;
  /** The cluster of the node beside. Throws a UserError where there is none. */
  readonly cluster: () => Cluster;
  /** Examines the file without opening the store. */
  readonly examine: Examine;
  /** The path of the file. No command may overwrite it. */
  readonly databasePath: string;
  /** Takes a lock that one process alone can have, and gives its release; null when another process has it. */
  readonly lock: (path: string) => (() => void) | null;
  readonly now: () => number;
  readonly environment: CommandEnvironment;
  readonly process: CommandProcess;
}

/** What a command reads of the environment. */
interface CommandEnvironment {
  /** The key with which a command asks a server; null where LEADFILE_KEY is not set. */
  readonly clientKey: () => string | null;
  /** The secret that signs posted leads; null where none is set. */
  readonly postSecret: () => string | null;
  /** The environment for a program that is given leads: it has neither the key nor the secret. */
  readonly withoutSecrets: () => Readonly<Record<string, string | undefined>>;
  /** The public origin of the server. */
  readonly origin: () => string;
  /** The origin to which vendors send their webhooks. */
  readonly receiveOrigin: () => string;
  readonly receiving: () => ReceivingParts;
  /** All settings, and the address at which this machine reaches the server; or what is wrong with the settings. */
  readonly settings: () => {
    readonly faults: readonly UserError[];
    readonly config: Config | null;
    readonly address: string | null;
  };
}

/** What a command does with the process that it runs in. */
interface CommandProcess {
  readonly standardInput: () => AsyncIterable<Uint8Array>;
  readonly pause: Pause;
  /** From here on a signal ends the process at once. */
  readonly forgetSignals: () => void;
  /** Starts the server, with made-up leads or without. Null where the server is a program of its own. */
  readonly serve: ((demo: boolean) => Promise<void>) | null;
  /** Sets the status with which the process ends once the command has returned. */
  readonly endWith: (status: number) => void;
  /** Ends the process at once, though a reader may still be waited for. */
  readonly leave: () => void;
}

/** A command that takes --json and gets its output. */
export function jsonCommand(name: string): Command {
  return new Command(name).option("--json", "print one JSON value on standard output");
}

/** The output that a command was asked for. */
export function outputOf(options: { json?: boolean }): Output {
  return createOutput(options.json === true);
}
