/** `bun admin` on a terminal of its own, as wide as a test wants it. */

import { until } from "./eventually.ts";
import { adminCommand, endWithTest } from "./process.ts";

export type Terminal = ReturnType<typeof startOnTerminal>;

interface TerminalSetup {
  readonly columns?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a command on the database of an admin. */
export function onTerminal(file: string, args: readonly string[], setup: TerminalSetup = {}): Terminal {
  return startOnTerminal([...adminCommand, ...args], { DATABASE_PATH: file, ...setup.settings }, setup.columns);
}

/** Starts any program. */
export function startOnTerminal(command: string[], settings: Readonly<Record<string, string>>, columns = 80) {
  let shown = "";
  let isOver = false;
  const decoder = new TextDecoder();
  const shownAll = Promise.withResolvers<void>();
  const child = Bun.spawn(command, {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", TERM: "xterm-256color", ...settings },
    terminal: {
      cols: columns,
      rows: 40,
      data(_, bytes) {
        shown += decoder.decode(bytes, { stream: true });
      },
      exit: () => shownAll.resolve(),
    },
  });
  endWithTest(child);
  // What a program said last may be shown after it has ended.
  const ended = child.exited.then(async (status) => {
    await shownAll.promise;
    isOver = true;
    return status;
  });
  return {
    /** All that was shown so far. */
    shown: () => shown,
    /** Waits until something is shown. */
    async seen(pattern: RegExp): Promise<void> {
      // A message may be broken at any space.
      const isSeen = () => pattern.test(shown) || pattern.test(shown.replaceAll("\r\n", " "));
      await until(() => isSeen() || isOver, 1);
      if (!isSeen()) throw new Error(`it ended without it: ${shown}`);
    },
    type: (keys: string) => void child.terminal?.write(keys),
    /** As if its window were closed. */
    close: () => child.terminal?.close(),
    /** The status with which it ended; 128 and the number of the signal where one ended it, as a shell says it. */
    ended,
  };
}

/** Returns the shown text without colors. */
export const plain = (shown: string): string => Bun.stripANSI(shown).replaceAll("\r", "");
