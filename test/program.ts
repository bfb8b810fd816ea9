/** The commands themselves, for tests that read what they are called and take. */
import type { Command } from "commander";
import { createProgram } from "../src/cli/program.ts";

export function theProgram(): Command {
  const nothing = () => {
    throw new Error("help needs nothing of the world");
  };
  return createProgram({
    store: nothing,
    backups: nothing,
    cluster: nothing,
    now: nothing,
    standardInput: nothing,
    clientKey: nothing,
    postSecret: nothing,
    commandEnvironment: nothing,
    origin: nothing,
    settings: nothing,
    examine: nothing,
    databasePath: "data/leadfile.db",
    serve: nothing,
    pause: nothing,
    lock: nothing,
    receiveOrigin: nothing,
    receiving: nothing,
    endWith: nothing,
    leave: nothing,
  });
}
