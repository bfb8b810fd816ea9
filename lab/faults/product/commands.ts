/** Commands of a build, one after another in one process: a start costs ten times what a command does. */
import { join } from "node:path";
import type { Order } from "../../../test/support/commands-in-turn.ts";

export interface Said {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Commands {
  run(order: Omit<Order, "mark">): Promise<Said>;
  end(): Promise<void>;
}

export function startCommands(build: string): Commands {
  let answer = (_: number) => {};
  const child = Bun.spawn([process.execPath, join(build, "test/support/commands-in-turn.ts")], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    serialization: "advanced",
    ipc: (status: number) => answer(status),
  });
  const outputs = [child.stdout.getReader(), child.stderr.getReader()] as const;
  return {
    async run(order) {
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

async function readUpTo(
  mark: string,
  output: { read(): Promise<{ readonly value?: Uint8Array | undefined }> },
): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  while (!text.endsWith(mark)) {
    const { value } = await output.read();
    if (value === undefined) return text;
    text += decoder.decode(value, { stream: true });
  }
  return text.slice(0, -mark.length);
}
