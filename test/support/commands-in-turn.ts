/** A process that runs one command of `bun admin` after another: each as if it were started for it, without the start. */

import { runCommand } from "../../src/admin.ts";
import type { Clock } from "../../src/cli/command.ts";
import { createOutput } from "../../src/cli/terminal/output.ts";
import { sayWhy } from "../../src/process.ts";
import { watchDatabases } from "./closing.ts";

/** A command that another process wants to be run. */
export interface Order {
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string | Uint8Array;
  /** What the clock says; null for that of the machine. */
  readonly nowMs: number | null;
  /** The line behind all that the command has said, on both outputs. */
  readonly mark: string;
}

/** Runs a command in its own folder and environment, and gives its status. */
async function obey({ args, folder, environment, input, nowMs }: Order): Promise<number> {
  process.chdir(folder);
  process.umask(0o022);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  try {
    const clock = nowMs === null ? undefined : clockAt(nowMs);
    return await runCommand(["bun", "src/admin.ts", ...args], () => new Blob([input]).stream(), clock);
  } catch (cause) {
    return sayWhy(cause);
  } finally {
    process.chdir("/");
  }
}

/** A clock that stands still, and is as late as it should be at the end of each pause. */
function clockAt(startMs: number): Clock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    async sleep(ms) {
      nowMs += ms;
    },
  };
}

process.on("disconnect", () => process.exit());
process.on("message", async (order: Order) => {
  const closeDatabases = watchDatabases();
  const status = await obey(order);
  closeDatabases();
  process.stderr.write("", () => {
    const output = createOutput(false);
    output.result(null, order.mark);
    output.say(order.mark);
    process.send?.(status);
  });
});
