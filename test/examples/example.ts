/** An example as a reader runs it: a process of its own against a real server. */

import { join } from "node:path";
import { endWithTest } from "../support/child.ts";

const examples = join(import.meta.dir, "../../examples");

export interface RunningExample {
  /** Ends it as it is meant to end; gives the status. */
  stop(): Promise<number>;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
  readonly errors: Promise<string>;
  /** What it has said on standard error so far. */
  readonly said: () => string;
}

/** Runs one in a folder, with nothing in its environment but what it is given. */
export function runExample(
  name: string,
  args: readonly string[],
  folder: string,
  settings: Readonly<Record<string, string>>,
): RunningExample {
  const child = Bun.spawn([name.endsWith(".py") ? "python3" : process.execPath, join(examples, name), ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? folder, ...settings },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  endWithTest(child);
  let said = "";
  const errors = Array.fromAsync(child.stderr.pipeThrough(new TextDecoderStream()), (text) => {
    said += text;
  }).then(() => said);
  return {
    errors,
    said: () => said,
    stop() {
      child.kill("SIGINT");
      return child.exited;
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
