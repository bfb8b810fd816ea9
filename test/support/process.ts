/** A program in its own process, such as the server as its owner runs it: its output, and its exit. */
import { onTestFinished } from "bun:test";
import { join } from "node:path";
import { until } from "./eventually.ts";
import { aFolder } from "./folder.ts";

const bundles = process.env["TEST_BUNDLES"];

/** The commands that start the programs from their sources. */
export const sourceCommands = {
  server: [process.execPath, join(import.meta.dir, "../../src/main.ts")],
  admin: [process.execPath, join(import.meta.dir, "../../src/admin.ts")],
} as const;

/** The command that starts the server: from its sources, or from the bundle that test/run.ts has made. */
export const serverCommand: readonly string[] =
  bundles === undefined ? sourceCommands.server : [process.execPath, join(bundles, "main.js")];

/** The command that starts `bun admin`, to which its words are added. */
export const adminCommand: readonly string[] =
  bundles === undefined ? sourceCommands.admin : [process.execPath, join(bundles, "admin.js")];

export type RunningProcess = ReturnType<typeof start>;

export interface Streams {
  /** The content of standard input, which stays open. */
  readonly input?: string;
  /** The descriptor that is standard output; without it, the output is collected. */
  readonly output?: number;
}

interface Surroundings extends Streams {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The exit status and the output of a program. */
export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a program in its own folder, without the settings of this machine. It ends with the test. */
export function start(
  settings: Readonly<Record<string, string>> = {},
  folder = aFolder(),
  command = serverCommand,
  streams: Streams = {},
) {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, PORT: "0", ...settings };
  const running = launch(command, { cwd: folder, env, ...streams });
  endWithTest(running.child);
  return { ...running, folder };
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

  async function wait(pattern: RegExp, stream: keyof typeof said): Promise<RegExpExecArray> {
    await until(() => pattern.test(said[stream]) || isOver, 5);
    const match = pattern.exec(said[stream]);
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
    said: (pattern: RegExp) => wait(pattern, "output"),
    /** The same for standard error. */
    complained: (pattern: RegExp) => wait(pattern, "errors"),
    /** The address of the listening line. */
    listening: async () => (await wait(/^listening on (\S+)$/m, "output"))[1] ?? "",
    /** Sends a signal, which asks it to stop in order by default, and gives the exit status. */
    end(signal: NodeJS.Signals = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
    /** Waits for its end. */
    finished: async (): Promise<Finished> => ({ status: await exited, stdout: said.output, stderr: said.errors }),
  };
}

async function collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }));
}

/** Runs a program of this machine to its end. */
export function runNow(...command: readonly string[]): Finished {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { stdin: "ignore" });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Waits for the end of a command whose output nobody reads yet. */
export async function finish(child: Bun.ReadableSubprocess): Promise<Finished> {
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, stdout, stderr };
}

/** Ends a program with its test, unless it has ended by itself. */
export function endWithTest(child: Bun.Subprocess, signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): void {
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill(signal);
    await child.exited;
  });
}
