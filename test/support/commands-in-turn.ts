/** A process that runs one command of `bun admin` after another, each as in a process of its own, without the start. */
import type { Clock } from "../../src/cli/command.ts";
import { watchDatabases } from "./closing.ts";

// An import lowers the priority of its process, and the next command of this one is a test of something else.
Object.assign(process.getBuiltinModule("node:os"), { setPriority: () => undefined });

const keptThreads: Worker[] = [];

/** Starts the thread of backups, which is kept when its act has ended: its databases are closed then, as at its end. */
function startThread(): Worker {
  const thread = new OwnThread(new URL("./kept-thread.ts", import.meta.url));
  const end = thread.terminate.bind(thread);
  let hasEnded = false;
  thread.addEventListener("message", ({ data }: MessageEvent<object>) => {
    hasEnded = !("call" in data);
  });
  thread.terminate = () => {
    if (!hasEnded) return end();
    hasEnded = false;
    keptThreads.push(thread);
    thread.dispatchEvent(new Event("close"));
  };
  return thread;
}

const OwnThread = globalThis.Worker;
// A constructor may give an object that exists.
globalThis.Worker = function keptThread(url: URL) {
  return url.pathname.endsWith("/file-worker.ts") ? (keptThreads.pop() ?? startThread()) : new OwnThread(url);
} as unknown as typeof Worker;

const { runCommand } = await import("../../src/admin.ts");
const { createOutput } = await import("../../src/cli/terminal/output.ts");
const { sayWhy } = await import("../../src/runtime/process.ts");

/** A command that another process wants to be run. */
export interface Order {
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string | Uint8Array;
  /** The time of the clock; null for the clock of the machine. */
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

/** A clock that only advances during pauses. */
function clockAt(startMs: number): Clock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    sendsSharedAlerts: async () => true,
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
