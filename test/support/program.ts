/** The commands themselves, for tests that read what they are called and take. */
import type { AnyCommand } from "../../src/cli/command.ts";
import { createProgram } from "../../src/cli/program.ts";
import { createOutput } from "../../src/cli/terminal/output.ts";
import { installed } from "../../src/extensions.ts";

export function theProgram(): Promise<AnyCommand> {
  const nothing = () => {
    throw new Error("help needs nothing of the world");
  };
  return createProgram("all", {
    installed: async () => installed,
    database: nothing,
    now: nothing,
    sendsSharedAlerts: nothing,
    sleep: nothing,
    output: createOutput(false),
    standardInput: nothing,
    elapsedMs: nothing,
    setExitStatus: nothing,
  });
}
