/** Commands of `bun admin`, one after another in one process: a start costs ten times what a command does. */
import { onTestFinished } from "bun:test";
import { join } from "node:path";
import type { Order } from "./commands-in-turn.ts";
import type { Finished } from "./process.ts";

export type CommandProcess = ReturnType<typeof startCommands>;

/** Processes without a command, which wait for the next one. */
const idle: CommandProcess[] = [];

/** Runs a command to its end in a process that runs no other command at the same time. Ends it with the test. */
export async function runInTurn(order: Omit<Order, "mark">): Promise<Finished> {
  let process = idle.pop() ?? startCommands();
  // Something that the last command left behind may have ended it since.
  while (!process.isAlive()) process = idle.pop() ?? startCommands();
  let isOver = false;
  onTestFinished(async () => {
    if (!isOver) await process.end();
  });
  const ended = await process.run(order);
  isOver = true;
  if (process.isAlive()) idle.push(process);
  return ended;
}

/** Starts a process for commands of this build, or of another one in a folder. */
export function startCommands(
  build = join(import.meta.dir, "../.."),
  environment: Readonly<Record<string, string>> = {},
) {
  let answer = (_status: number) => {};
  const child = Bun.spawn([process.execPath, join(build, "test/support/commands-in-turn.ts")], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    serialization: "advanced",
    ipc: (status: number) => answer(status),
  });
  const outputs = [child.stdout.getReader(), child.stderr.getReader()] as const;
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async run(order: Omit<Order, "mark">): Promise<Finished> {
      const mark = crypto.randomUUID();
      const answered = new Promise<number>((resolve) => {
        answer = resolve;
      });
      child.send({ ...order, mark });
      const [stdout = "", stderr = ""] = await Promise.all(outputs.map((output) => readUpTo(`${mark}\n`, output)));
      return { status: await Promise.race([answered, child.exited]), stdout, stderr };
    },
    async end() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Returns the output before the mark, or before the end if a command ends its process. */
async function readUpTo(
  mark: string,
  output: { read(): Promise<{ readonly value?: Uint8Array | undefined }> },
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (let tail = ""; !tail.endsWith(mark); ) {
    const { value } = await output.read();
    if (value === undefined) return Buffer.concat(chunks).toString("utf8");
    chunks.push(value);
    tail = (tail + Buffer.from(value).toString("latin1")).slice(-mark.length);
  }
  return Buffer.concat(chunks).toString("utf8").slice(0, -mark.length);
}
