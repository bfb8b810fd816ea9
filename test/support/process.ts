/** The server as its owner runs it: a process of its own, with settings in the environment. */
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { endWithTest } from "./child.ts";
import { until } from "./eventually.ts";
import { aFolder } from "./folder.ts";

const main = join(import.meta.dir, "../../src/main.ts");

type Signal = "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGKILL";

export type RunningProcess = ReturnType<typeof start>;

/** Starts the server in a folder of its own; nothing of this machine's settings reaches it. */
export function start(
  settings: Readonly<Record<string, string>> = {},
  folder = aFolder(),
  command: readonly string[] = [process.execPath, main],
  streams: Streams = {},
) {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, PORT: "0", ...settings };
  const running = launch(command, { cwd: folder, env, ...streams });
  endWithTest(running.child);
  return { ...running, folder };
}

interface Streams {
  /** The content of standard input, which stays open. */
  readonly input?: string;
  /** The descriptor that is standard output; without it, what is written is kept. */
  readonly output?: number;
}

interface Surroundings extends Streams {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a program, and keeps what it says. It may outlive the test. */
export function launch(command: readonly string[], { cwd, env, input, output }: Surroundings) {
  const child = Bun.spawn([...command], {
    cwd,
    env,
    stdin: input === undefined ? "ignore" : "pipe",
    stdout: output ?? "pipe",
    stderr: "pipe",
  });
  child.stdin?.write(input ?? "");
  void child.stdin?.flush();
  const said = { output: "", errors: "" };
  let isOver = false;
  const drained = Promise.all([
    collect(child.stdout instanceof ReadableStream ? child.stdout : new Blob().stream(), (text) => {
      said.output += text;
    }),
    collect(child.stderr, (text) => {
      said.errors += text;
    }),
  ]);
  const exited = child.exited.then(async (status) => {
    await drained;
    isOver = true;
    return status;
  });

  async function wait(pattern: RegExp): Promise<RegExpExecArray> {
    await until(() => pattern.test(said.output) || isOver, 5);
    const match = pattern.exec(said.output);
    if (match === null) throw new Error(`ended with ${await exited}: ${said.output}${said.errors}`);
    return match;
  }

  return {
    child,
    pid: child.pid,
    /** All that was said so far. */
    output: () => said.output,
    errors: () => said.errors,
    exited,
    /** Waits until the standard output holds something; throws with what the program said when it ended without it. */
    said: wait,
    /** The address of the listening line. */
    listening: async () => (await wait(/^listening on (\S+)$/m))[1] ?? "",
    /** Sends a signal, which asks it to stop in order by default, and gives the exit status. */
    end(signal: Signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}

async function collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }));
}

/** How a command ended, and what it said. */
export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits for the end of a command. */
export async function finish(child: Bun.ReadableSubprocess): Promise<Finished> {
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, stdout, stderr };
}

/** Runs a command whose standard output is a full disk. */
export async function runFull(database: string, ...words: string[]) {
  const full = openSync("/dev/full", "w");
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/admin.ts"), ...words], {
    env: { ...process.env, DATABASE_PATH: database },
    stdout: full,
    stderr: "pipe",
  });
  const [stderr, status] = await Promise.all([child.stderr.text(), child.exited]);
  closeSync(full);
  return { stderr, status };
}
