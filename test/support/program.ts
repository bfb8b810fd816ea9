/** The commands themselves, for tests that read what they are called and take. */
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.ts";

export function theProgram(): Promise<Command> {
  const nothing = () => {
    throw new Error("help needs nothing of the world");
  };
  return createProgram("all", {
    database: nothing,
    loadImporter: nothing,
    loadSourceFinder: nothing,
    backups: nothing,
    now: nothing,
    pause: nothing,
    forgetSignals: nothing,
    standardInput: nothing,
    endWith: nothing,
  });
}
