/** bun admin: config → database → one command. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { CommanderError } from "commander";
import type { Clock, CommandContext, CommandDatabase } from "./cli/command.ts";
import { createProgram } from "./cli/program.ts";
import { createOutput } from "./cli/terminal/output.ts";
import { forgetFolder, readCluster, readDatabasePath, refuseSecondDatabase } from "./config.ts";
import { isFileOfNode } from "./db/database-files.ts";
import { explainFailure, noDatabase } from "./db/failure.ts";
import { openFileDatabase } from "./db/open.ts";
import { exitBecause } from "./runtime/process.ts";
import { childOption } from "./runtime/program-name.ts";

const machineClock: Clock = {
  now: Date.now,
  sendsSharedAlerts: async () => true,
  // An abort ends the wait early. The caller looks at the signal.
  sleep: (ms, stop) => sleep(ms, undefined, { signal: stop }).catch(() => undefined),
};

/** Runs the command that the words name, and returns the exit status. Throws the error that stopped it. */
export async function runCommand(
  words: readonly string[],
  standardInput: CommandContext["standardInput"] = () => Bun.stdin.stream(),
  clock = machineClock,
): Promise<number> {
  const startedMs = performance.now();
  if (words.includes(childOption)) (await import("./server/child-process.ts")).lowerPriority();
  const path = readDatabasePath();
  const { openDatabase, now, sendsSharedAlerts } = await prepareDatabase(path, clock);
  const opened: { database?: CommandDatabase } = {};
  let status = 0;
  let output = createOutput(false);
  try {
    const program = await createProgram(words.slice(2), {
      ...clock,
      now,
      sendsSharedAlerts,
      installed: async () => (await import("./extensions.ts")).installed,
      database(ifMissing) {
        if (opened.database !== undefined) return opened.database;
        refuseSecondDatabase(path);
        if (ifMissing !== "create" && !existsSync(path)) throw noDatabase(path);
        return (opened.database = openDatabase());
      },
      get output() {
        return output;
      },
      standardInput,
      elapsedMs: () => performance.now() - startedMs,
      setExitStatus: (wanted) => {
        status = wanted;
      },
    });
    // A word --json may also be the value of another option.
    program.hook("preAction", (_, action) => {
      output = createOutput(action.optsWithGlobals()["json"] === true);
    });
    await program.parseAsync(words.filter((word) => word !== childOption));
    return status;
  } catch (cause) {
    // The help was printed: it was requested, or a command was named without its subcommand.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
    throw explainFailure(cause, path);
  } finally {
    opened.database?.close();
  }
}

/** The database of a command, which is opened on first use, and the clock. */
interface Prepared extends Pick<Clock, "now" | "sendsSharedAlerts"> {
  readonly openDatabase: () => CommandDatabase;
}

/** Prepares the database. Only a command that opens it fails if the settings of a cluster are wrong. */
async function prepareDatabase(path: string, { now, sendsSharedAlerts }: Clock): Promise<Prepared> {
  try {
    const cluster = readCluster();
    const isOfCluster = cluster !== null || isFileOfNode(path);
    const databases = isOfCluster ? await (await import("./extensions.ts")).loadClusterDatabases(path, cluster) : null;
    if (databases === null) return { openDatabase: () => openFile(path), now, sendsSharedAlerts };
    return { ...databases, openDatabase: await databases.prepareForCommands() };
  } catch (cause) {
    const openDatabase = () => {
      throw cause;
    };
    return { openDatabase, now, sendsSharedAlerts };
  }
}

function openFile(path: string): CommandDatabase {
  const database = openFileDatabase(path);
  return Object.assign(database, {
    importer: async () => (await import("./import/write/import.ts")).importerOn(database.read),
  });
}

const maxLeftoverMs = 1_000;

if (import.meta.main) {
  forgetFolder();
  try {
    process.exitCode = await runCommand(process.argv);
    // Otherwise a request that the command no longer waits for, such as one to an unresponsive object store, keeps the process
    // running.
    setTimeout(() => process.exit(), maxLeftoverMs).unref();
  } catch (cause) {
    exitBecause(cause);
  }
}
