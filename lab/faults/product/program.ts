/** The product as processes, out of any build: the server, and one admin command after another. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../../../test/support/process.ts";

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Server {
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<number>;
  /** All that it said on standard error. */
  errors(): string;
  /** Ends it in order, or at once, and gives its status. */
  end(signal?: "SIGTERM" | "SIGKILL"): Promise<number>;
}

type Settings = Readonly<Record<string, string>>;

/** The environment of a process of the product. */
export const surroundings = (file: string, settings: Settings = {}) => ({
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  DATABASE_PATH: file,
  LOG_LEVEL: "silent",
  RATE_LIMIT_PER_MIN: "1000000000",
  PORT: "0",
  // As deploy/systemd/leadfile.service has it.
  BUN_JSC_forceRAMSize: "167772160",
  BUN_JSC_useFTLJIT: "0",
  ...settings,
});

/** Starts the server of a build on a file, or another program of it that listens. */
export function startServer(
  build: string,
  file: string,
  settings: Settings = {},
  [program, ...args]: readonly [program: string, ...args: string[]] = ["src/main.ts"],
  before: readonly string[] = [],
): Promise<Server> {
  const command = [...before, process.execPath, join(build, program), ...args];
  return startListening(command, surroundings(file, settings), build);
}

/** Starts a program, and waits for the line with its address. Throws what it said when it ends without one. */
export async function startListening(command: readonly string[], env: Settings, cwd = tmpdir()): Promise<Server> {
  const { child, pid, errors, listening } = launch(command, { cwd, env });
  return {
    url: await listening(),
    pid,
    exited: child.exited,
    errors,
    end(signal = "SIGTERM") {
      child.kill(signal);
      return child.exited;
    },
  };
}

interface Surroundings {
  /** What the command runs under, such as a tracer. */
  readonly before?: readonly string[];
  readonly settings?: Settings;
  readonly input?: string;
}

/** Starts one admin command of a build. */
export function startAdmin(
  build: string,
  file: string,
  args: readonly string[],
  { before = [], settings, input = "" }: Surroundings = {},
) {
  return Bun.spawn([...before, process.execPath, join(build, "src/admin.ts"), ...args], {
    cwd: build,
    env: surroundings(file, settings),
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Runs one admin command to its end. */
export async function admin(...command: Parameters<typeof startAdmin>): Promise<Ended> {
  const child = startAdmin(...command);
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, stdout, stderr };
}

/** Returns why a program cannot run; null if it is installed. */
export function needs(program: string): string | null {
  return Bun.which(program) === null ? `${program} is not installed` : null;
}
