/** The commands themselves, for tests that read what they are called and take. */
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.ts";

export function theProgram(): Command {
  const nothing = () => {
    throw new Error("help needs nothing of the world");
  };
  return createProgram({
    store: nothing,
    database: nothing,
    backups: nothing,
    cluster: nothing,
    examine: nothing,
    databasePath: "data/leadfile.db",
    lock: nothing,
    now: nothing,
    environment: {
      clientKey: nothing,
      postSecret: nothing,
      withoutSecrets: nothing,
      origin: nothing,
      receiveOrigin: nothing,
      receiving: nothing,
      settings: nothing,
    },
    process: {
      standardInput: nothing,
      pause: nothing,
      forgetSignals: nothing,
      serve: nothing,
      endWith: nothing,
      leave: nothing,
    },
  });
}
