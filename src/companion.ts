/**
 * A process of this program beside another one, such as the inbox beside the server. It gives way to that, is
 * started again when it dies, and ends with the process that started it, however that ends.
 */
import { join } from "node:path";
import { companionOption, systemCode } from "./process.ts";

export interface Companion {
  /** Resolves when it has ended: in order, or by force where that takes long. */
  stop(): Promise<void>;
}

/** The pauses before the first restarts grow: a process that dies at once must not keep the machine busy. */
const pausesMs = [1_000, 5_000];
const longestPauseMs = 30_000;
/** After a run of this length, the next death counts as the first. */
const healthyMs = 60_000;
/** How long it may finish its work before it is killed. A kill loses nothing. */
const stopWaitMs = 5_000;

/** Starts `bun admin` with some arguments. `say` hears of each death and restart. */
export function startCompanion(args: readonly string[], say: (line: string) => void): Companion {
  let isStopped = false;
  let deaths = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let child = start();

  function start() {
    const startedMs = performance.now();
    // Its standard input closes when this process ends, even by a kill. So it knows when to end.
    const started = Bun.spawn([...program(), ...args, companionOption], {
      stdin: "pipe",
      stdout: "inherit",
      stderr: "inherit",
    });
    void started.exited.then((status) => {
      if (isStopped) return;
      if (performance.now() - startedMs > healthyMs) deaths = 0;
      startAgain(`ended with ${status}`);
    });
    return started;
  }

  function startAgain(why: string): void {
    const pauseMs = pausesMs[deaths] ?? longestPauseMs;
    deaths++;
    say(`${args[0]} ${why}; it is started again in ${pauseMs / 1000} s`);
    timer = setTimeout(() => {
      try {
        child = start();
      } catch (cause) {
        // The machine may be out of memory or processes for a moment. That must not end the process beside.
        startAgain(`could not be started (${systemCode(cause) ?? String(cause)})`);
      }
    }, pauseMs);
  }

  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      child.stdin.end();
      const tooLate = setTimeout(() => child.kill("SIGKILL"), stopWaitMs);
      await child.exited;
      clearTimeout(tooLate);
    },
  };
}

function program(): string[] {
  return Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, join(import.meta.dir, "./admin.ts")];
}
