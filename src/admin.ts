/** bun admin: config → database → one command. */
import { existsSync } from "node:fs";
import { CommanderError } from "commander";
import { noDatabase } from "./cli/arguments.ts";
import { createProgram } from "./cli/program.ts";
import { createSignals, type Pause } from "./cli/terminal/signals.ts";
import { companionOption } from "./companion.ts";
import { readCluster, readDatabasePath, refuseSecondDatabase } from "./config.ts";
import { explainFailure } from "./db/failure.ts";
import type { CommandDatabase, Databases } from "./extension.ts";
import { loadDatabases } from "./extensions.ts";
import { endWith, giveWay } from "./process.ts";

/** Tells a command the time, and lets it wait. */
export interface Clock {
  readonly now: () => number;
  readonly pause: Pause;
}

/** Runs the command that the words name, and returns the status of the process. Throws the error that stopped it. */
export async function runCommand(
  words: readonly string[],
  standardInput = () => Bun.stdin.stream(),
  clock: Clock | null = null,
): Promise<number> {
  const isCompanion = words.includes(companionOption);
  if (isCompanion) giveWay();
  const signals = createSignals(isCompanion);
  const { now, pause } = clock ?? { now: Date.now, pause: signals.pause };
  const path = readDatabasePath();
  const databases = await prepareDatabases(path);
  let opened: CommandDatabase | null = null;
  function open(ifMissing?: "create"): CommandDatabase {
    if (opened === null && ifMissing !== "create" && !existsSync(path)) throw noDatabase(path);
    refuseSecondDatabase(path);
    return (opened ??= databases().openForCommands());
  }
  let status = 0;
  try {
    const program = await createProgram(words.slice(2), {
      database: (ifMissing) => open(ifMissing).database,
      now,
      pause,
      forgetSignals: signals.forget,
      standardInput,
      endWith: (wanted) => {
        status = wanted;
      },
      loadImporter: async () => await open().loadImporter(),
      loadSourceFinder: async () => await open().loadSourceFinder(),
      async backups() {
        // A restore creates the database.
        refuseSecondDatabase(path);
        return await databases().openBackups();
      },
    });
    await program.parseAsync(words);
    return status;
  } catch (cause) {
    // The help was shown: it was requested, or a command was named without its subcommand.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
    throw explainFailure(cause, path);
  } finally {
    closeDatabase(opened);
  }
}

function closeDatabase(opened: CommandDatabase | null): void {
  opened?.close();
}

/** Loads what opens the database. A command that needs none runs although the settings of a cluster are wrong. */
async function prepareDatabases(path: string): Promise<() => Databases> {
  try {
    const databases = await loadDatabases(path, readCluster());
    return () => databases;
  } catch (cause) {
    return () => {
      throw cause;
    };
  }
}

if (import.meta.main) {
  try {
    process.exitCode = await runCommand(process.argv);
  } catch (cause) {
    endWith(cause);
  }
}
