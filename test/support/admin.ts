/** `bun admin` as its owner runs it, all commands on one file of their own. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { runInTurn } from "./command-process.ts";
import { createDatabase } from "./database.ts";
import { aFolder } from "./folder.ts";
import { adminCommand, type Finished, type Streams, start } from "./process.ts";

/** The possible fields of --json. The test knows which ones a command prints. */
export interface Printed {
  readonly [name: string]: unknown;
  readonly id: string;
  readonly key: string;
  readonly account: string;
  readonly imported: number;
  readonly moved: number;
}

export interface Ended extends Finished {
  /** Standard output as one JSON value. Throws with the standard error of a command that printed none. */
  readonly json: Printed;
}

type Input = string | Uint8Array;

export type Admin = ReturnType<typeof anAdmin>;

/** A file of its own with the accounts that are named. Its commands read a clock that is given, or that of the machine. */
export function anAdmin(
  accounts: readonly string[] = ["acme"],
  settings: Readonly<Record<string, string>> = {},
  nowMs: number | null = null,
) {
  const folder = aFolder();
  const file = join(folder, "leadfile.db");
  if (accounts.length > 0) createDatabase(file, accounts);
  const environment = { PATH: process.env["PATH"] ?? "", HOME: folder, DATABASE_PATH: file, ...settings };
  const give = async (input: Input, ...args: readonly string[]) =>
    withJson(await runInTurn({ args, folder, environment, input, nowMs }));
  const run = (...args: readonly string[]) => give("", ...args);
  const exported = async (account = "acme", ...options: readonly string[]) => {
    const ended = await run("lead", "export", account, ...options);
    if (ended.status !== 0) throw new Error(`the export ended with ${ended.status}: ${ended.stderr}`);
    return ended.stdout;
  };
  return {
    folder,
    file,
    /** Runs one command to its end. */
    run,
    /** The same with something on its standard input. */
    give,
    /** Starts a command in a process of its own, which gets signals and may run on. */
    start: (...args: readonly string[]) => start(environment, folder, [...adminCommand, ...args]),
    /** The same below another program, such as a tracer or a shell, or with other streams. */
    startUnder: (before: readonly string[], args: readonly string[], streams: Streams = {}) =>
      start(environment, folder, [...before, ...adminCommand, ...args], streams),
    /** The export of an account as it is written. */
    exported,
    /** Imports a text into the account acme, and gives the counts. */
    import: (input: Input, ...options: readonly string[]) =>
      give(input, "lead", "import", "acme", "-", "--json", "--create-pixels", ...options),
    /** The leads of an account, oldest first, as served. */
    leads: async (account?: string) => readLeads(await exported(account)),
    /** Writes a file into the folder and gives its path. */
    put(name: string, content: Input): string {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
  };
}

/** The leads of an export in NDJSON. */
export function readLeads(exported: string): Lead[] {
  const lines = exported.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Lead); // What an export promises.
}

function withJson(ended: Finished): Ended {
  return {
    ...ended,
    get json() {
      if (ended.stdout === "") throw new Error(`The command ended with status ${ended.status}: ${ended.stderr}`);
      return JSON.parse(ended.stdout) as Printed; // The test says what has to be in it.
    },
  };
}
