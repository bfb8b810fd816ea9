/** What the commands of all nouns share: the store, the output, and the account that is named. */
import { Command } from "commander";
import { closest, distance } from "fastest-levenshtein";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { isName, isPixelId } from "../contract/pixel.ts";
import { printable } from "../operator/printable.ts";
import { adminCommand } from "../operator/program-name.ts";
import { UserError } from "../operator/user-error.ts";
import type { AdminStore } from "../store/admin.ts";
import type { ClusterKeeper } from "../store/cluster.ts";
import type { Examine } from "../store/examination.ts";
import type { CopyKeeper } from "../store/privacy.ts";
import type { Account } from "../store/repositories.ts";
import { createOutput, type Output } from "./terminal/output.ts";
import type { Pause } from "./terminal/pause.ts";

/** What the door for deliveries is given by the outside world. */
export interface ReceivingParts {
  readonly address: { readonly host: string; readonly port: number; readonly tls: Config["tls"] };
  readonly baseUrl: string;
  readonly trustProxy: boolean;
  readonly log: Logger;
  /** Starts a command of this program beside this process. */
  readonly startCompanion: (args: readonly string[]) => { stop(): Promise<void> };
}

/** What a command is given by the outside world. */
export interface CommandContext {
  /** Opens the store at the first call. */
  readonly store: () => AdminStore;
  /** Copies of the file, which are made and brought back while the store is not open. */
  readonly copies: () => CopyKeeper;
  /** The cluster of the node beside. Throws a UserError where there is none. */
  readonly cluster: () => ClusterKeeper;
  readonly now: () => number;
  readonly standardInput: () => AsyncIterable<Uint8Array>;
  /** The key for a server that is asked as a client; null where none is set. */
  readonly clientKey: () => string | null;
  /** What posted leads are signed with; null where none is set. */
  readonly postSecret: () => string | null;
  /** What a command that is given leads may see of the environment. */
  readonly commandEnvironment: () => Readonly<Record<string, string | undefined>>;
  /** Where the server of this file is reached. */
  readonly origin: () => string;
  /** The settings as they are: what is wrong with them, else all of them and where this machine reaches the server. */
  readonly settings: () => {
    readonly faults: readonly UserError[];
    readonly config: Config | null;
    readonly address: string | null;
  };
  /** Looks at the file without opening the store. */
  readonly examine: Examine;
  /** The path of the file, which no command may be told to overwrite. */
  readonly databasePath: string;
  /** Starts the server, on made-up leads or not, and returns while it runs; null where another program does that. */
  readonly serve: ((demo: boolean) => Promise<void>) | null;
  readonly pause: Pause;
  /** Takes a place that only one process may have; null when another one has it. */
  readonly lock: (path: string) => (() => void) | null;
  /** Where vendors reach the door for deliveries. */
  readonly receiveOrigin: () => string;
  /** What the door for deliveries runs with. */
  readonly receiving: () => ReceivingParts;
  /** Ends the command with another status than 0 though it is done. */
  readonly endWith: (status: number) => void;
  /** Ends the process, whatever it still waits for, such as a reader that stands still. */
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

/** The account with this id or this exact name; throws a UserError when there is none. */
export function accountOf(store: AdminStore, idOrName: string): Account {
  const account = store.accounts.find(idOrName);
  if (account !== null) return account;
  const names = store.accounts.list().flatMap(({ id, name }) => [name, id]);
  const near = closestTo(idOrName, names);
  const advice = near === null ? "" : `Did you mean ${JSON.stringify(printable(near))}? `;
  throw new UserError(
    `No account has the id or name ${JSON.stringify(idOrName)}.`,
    `${advice}${adminCommand} account list shows them.`,
  );
}

/** The one of some texts that differs by a slip of up to a third of its letters. */
function closestTo(text: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const found = closest(
    text.toLowerCase(),
    known.map((one) => one.toLowerCase()),
  );
  const original = known.find((one) => one.toLowerCase() === found) ?? "";
  return distance(text.toLowerCase(), found) <= original.length / 3 ? original : null;
}

/** The id of a pixel; throws a UserError that names the option. */
export function checkPixelId(option: string, text: string): string {
  if (isPixelId(text.trim())) return text.trim();
  throw new UserError(
    `${option} takes an id of 1 to 200 characters, none of which only controls a terminal.`,
    "It does not begin with [, and is no word for nothing, such as null.",
    2,
  );
}

/** A name or id that people and terminals can live with; throws a UserError that names what it is of. */
export function checkText(what: string, text: string): string {
  const trimmed = text.trim();
  if (isName(trimmed)) return trimmed;
  throw new UserError(`${what} takes 1 to 200 characters, and none that only controls a terminal.`, "", 2);
}
