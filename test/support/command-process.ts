/** Commands of `bun admin` in processes that are kept for the next one: a start costs ten times what a command does. */
import { onTestFinished } from "bun:test";
import { join } from "node:path";
import type { Order } from "./commands-in-turn.ts";

interface Said {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

type CommandProcess = ReturnType<typeof startProcess>;

const idle: CommandProcess[] = [];

/** Runs a command to its end, beside no other one in its process. */
export async function runInTurn(order: Omit<Order, "mark">): Promise<Said> {
  let process = idle.pop() ?? startProcess();
  // Something that the last command left behind may have ended it since.
  while (!process.isAlive()) process = idle.pop() ?? startProcess();
  let over = false;
  onTestFinished(async () => {
    if (!over) await process.end();
  });
  const said = await process.run({ ...order, mark: crypto.randomUUID() });
  over = true;
  if (process.isAlive()) idle.push(process);
  return said;
}

function startProcess() {
  let answer = (_status: number) => {};
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "commands-in-turn.ts")], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    serialization: "advanced",
    ipc: (status: number) => answer(status),
  });
  const outputs = [child.stdout.getReader(), child.stderr.getReader()] as const;
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async run(order: Order): Promise<Said> {
      const answered = new Promise<number>((resolve) => {
        answer = resolve;
      });
      child.send(order);
      const [stdout, stderr] = await Promise.all(outputs.map((output) => readUpTo(`${order.mark}\n`, output)));
      return { status: await Promise.race([answered, child.exited]), stdout: stdout ?? "", stderr: stderr ?? "" };
    },
    async end() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** All that is said before the mark; or before the end, where a command ends its process. */
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
