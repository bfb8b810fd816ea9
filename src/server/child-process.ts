/**
 * A child process of the server, such as the inbox. It runs at a lower priority, is restarted when it dies, and ends with
 * the server, even if that is killed.
 */
import { existsSync, readdirSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { codeOf } from "../db/failure.ts";
import { childOption } from "../runtime/program-name.ts";

/** The pauses before restarts grow, so that a process that dies at once does not keep the machine busy. */
const pausesMs = [1_000, 5_000];
const maxPauseMs = 30_000;
/** After a run of this length, the next exit counts as the first. */
const healthyMs = 60_000;
/** The time to finish its work before it is killed. A kill loses nothing. */
const stopTimeoutMs = 5_000;

/** Starts `bun admin` with some arguments. `say` gets a line for each exit and restart. */
export function startChild(args: readonly string[], say: (line: string) => void) {
  let isStopped = false;
  let exits = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let child = start();

  function start() {
    const startedMs = performance.now();
    // Its standard input closes when this process ends, even by a kill, which tells it to end.
    const started = Bun.spawn(commandOf(args), { stdin: "pipe", stdout: "inherit", stderr: "inherit" });
    void started.exited.then((status) => {
      if (isStopped) return;
      if (performance.now() - startedMs > healthyMs) exits = 0;
      startAgain(`ended with ${status}`);
    });
    return started;
  }

  function startAgain(why: string): void {
    const pauseMs = pausesMs[exits] ?? maxPauseMs;
    exits++;
    say(`${args[0]} ${why}; it is restarted in ${pauseMs / 1000} s`);
    timer = setTimeout(() => {
      try {
        child = start();
      } catch (cause) {
        // The machine may be short of memory or processes. That must not end the server.
        startAgain(`could not be started (${codeOf(cause) || String(cause)})`);
      }
    }, pauseMs);
  }

  return {
    /** Resolves when the process has ended. If that takes too long, it is killed. */
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      child.stdin.end();
      const killTimer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      await child.exited;
      clearTimeout(killTimer);
    },
  };
}

/** Returns the command line that runs an admin command of this build as a child process. */
export function commandOf(args: readonly string[]): string[] {
  const program = Bun.isStandaloneExecutable ? [] : [join(import.meta.dir, "../admin.ts")];
  return [process.execPath, ...program, ...args, childOption];
}

/** Lowers the priority of all threads of this process. Later threads inherit it. */
export function lowerPriority(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, 10);
    } catch {
      // A hardened service may not set it, and a thread may have just ended.
    }
  }
}

/** Linux sets the priority of each thread separately. Other systems have no such folder, and 0 is the whole process. */
function threads(): number[] {
  const folder = "/proc/self/task";
  return existsSync(folder) ? readdirSync(folder).map(Number) : [0];
}
