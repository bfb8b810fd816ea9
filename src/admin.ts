/** bun admin: config → store → one command. */
import { CommanderError } from "commander";
import { openReceiving } from "../extensions/delivery/webhooks/settings.ts";
import { createProgram } from "./cli/program.ts";
import { createSignals, type Pause } from "./cli/terminal/signals.ts";
import { ownAddress, publicOrigin, receiveOrigin } from "./config/origin.ts";
import {
  readClientKey,
  readCluster,
  readConfig,
  readDatabasePath,
  readPostSecret,
  settingFaults,
  withoutSecrets,
} from "./config.ts";
import { examineFile } from "./db/examination/examine.ts";
import { storeErrorOf } from "./db/failure.ts";
import { takeLock } from "./db/locks/process-lock.ts";
import { endWith } from "./operator/end.ts";
import { giveWay } from "./operator/priority.ts";
import { companionOption } from "./serving/companion.ts";
import type { AdminStore } from "./store/admin.ts";
import { openAdminStoreOf, openBackupsOf, openClusterOf } from "./stores.ts";

/** What tells a command the time, and lets it wait. */
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
  const databasePath = readDatabasePath();
  const store = openOnce(() => openAdminStoreOf(databasePath, readCluster()));
  let status = 0;
  const program = createProgram({
    store: store.get,
    database: () => store.get().database,
    backups: () => openBackupsOf(databasePath, readCluster()),
    cluster: () => openClusterOf(databasePath, readCluster()),
    examine: (full) => examineFile(databasePath, full),
    databasePath,
    lock: takeLock,
    now,
    environment,
    process: {
      standardInput,
      pause,
      forgetSignals: signals.forget,
      serve: Bun.isStandaloneExecutable ? serve : null,
      endWith: (wanted) => {
        status = wanted;
      },
      leave: () => process.exit(status),
    },
  });
  try {
    await program.parseAsync(words);
    return status;
  } catch (cause) {
    // The help was shown: it was asked for, or a noun stood without its verb.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
    throw storeErrorOf(cause, databasePath);
  } finally {
    store.close();
  }
}

/** What commands ask of the settings, each when it is needed. */
const environment = {
  clientKey: readClientKey,
  postSecret: readPostSecret,
  withoutSecrets,
  origin: () => publicOrigin(readConfig()),
  receiveOrigin: () => receiveOrigin(readConfig()),
  receiving: openReceiving,
  settings: lookAtSettings,
};

/** A store that is opened when it is first asked for: many commands need none. */
function openOnce(open: () => AdminStore): { readonly get: () => AdminStore; readonly close: () => void } {
  let store: AdminStore | null = null;
  return { get: () => (store ??= open()), close: () => store?.close() };
}

function lookAtSettings() {
  const faults = settingFaults();
  const config = faults.length === 0 ? readConfig() : null;
  return { faults, config, address: config === null ? null : ownAddress(config) };
}

/** The executable is the server, too: each of these files starts it when it is imported. */
async function serve(demo: boolean): Promise<void> {
  if (demo) await import("./demo.ts");
  else await import("./main.ts");
}

if (import.meta.main) {
  try {
    process.exitCode = await runCommand(process.argv);
  } catch (cause) {
    endWith(cause);
  }
}
