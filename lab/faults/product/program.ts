/** Starts processes of a build: servers, admin commands, and followers. */
import { closeSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adminCommand, type Finished, finish, launch, serverCommand } from "../../../test/support/process.ts";
import { project } from "../breaking/build.ts";

export type Server = Awaited<ReturnType<typeof startListening>>;

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

/** A program of a build, and its arguments. */
type Program = readonly [name: "main" | "admin", ...words: string[]];

/** Returns the command of a program. The project itself may use the bundle that a run of tests made. */
function commandOf(build: string, [name, ...words]: Program): readonly string[] {
  const ofProject = name === "main" ? serverCommand : adminCommand;
  return [...(build === project ? ofProject : [process.execPath, join(build, `src/${name}.ts`)]), ...words];
}

/** Starts the server of a build, or another program of it that listens. */
export function startServer(
  build: string,
  file: string,
  settings: Settings = {},
  program: Program = ["main"],
  before: readonly string[] = [],
): Promise<Server> {
  return startListening([...before, ...commandOf(build, program)], surroundings(file, settings), build);
}

/** Starts a program, and waits for the line with its address. Throws its output if it ends without one. */
export async function startListening(command: readonly string[], env: Settings, cwd = tmpdir()) {
  const running = launch(command, { cwd, env });
  return { ...running, url: await running.listening() };
}

interface Surroundings {
  /** The command that runs it, such as a tracer. */
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
  return Bun.spawn([...before, ...commandOf(build, ["admin", ...args])], {
    cwd: build,
    env: surroundings(file, settings),
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
}

interface Follow {
  readonly url: string;
  readonly key: string;
  readonly args: readonly string[];
  /** The folder in which it runs. */
  readonly folder: string;
  /** The file to which it adds leads. */
  readonly output: string;
  readonly settings?: Settings;
}

/** Starts follow of a build. */
export function startFollow(build: string, { url, key, args, folder, output, settings }: Follow): Bun.Subprocess {
  const file = openSync(output, "a");
  const child = Bun.spawn([...commandOf(build, ["admin", "follow", url, ...args])], {
    cwd: folder,
    env: { ...surroundings("", settings), LEADFILE_KEY: key },
    stdio: ["ignore", file, "ignore"],
  });
  closeSync(file);
  return child;
}

/** Runs one admin command to its end. */
export function admin(...command: Parameters<typeof startAdmin>): Promise<Finished> {
  return finish(startAdmin(...command));
}
