/** The progress of a long run: a bar on a terminal, a line every few seconds elsewhere. A short run prints nothing. */
import { isDumbTerminal } from "../../config.ts";
import { columnsOf } from "../../runtime/process.ts";
import { runSteps, stoppedBy } from "../../runtime/signals.ts";
import { grouped } from "./numbers.ts";
import type { Output } from "./output.ts";

const drawEveryMs = 100;
const lineEveryMs = 3_000;
const barWidth = 12;

/** Shows progress until it is disposed of. A total of null means that it is unknown. */
export function createProgress(what: string, total: number | null, output: Output) {
  const startedMs = performance.now();
  const isBar = process.stderr.isTTY && !isDumbTerminal();
  const say = throttle(output);
  const clear = () => void (isBar && process.stderr.write("\r\u001b[K"));
  let drawnMs = Number.NEGATIVE_INFINITY;
  return {
    /** Updates the progress: done in the unit of the total, and the number of rows. */
    update(done: number, rows: number) {
      const nowMs = performance.now();
      const seconds = (nowMs - startedMs) / 1000;
      const speed = `${grouped(Math.round(rows / seconds))} rows/s`;
      // What is counted may grow, as a running import does while it is undone.
      const share = total === null ? null : Math.min(1, done / Math.max(total, 1));
      if (!isBar) {
        const percent = share === null ? "" : ` (${Math.floor(100 * share)} %)`;
        return say(() => `${what}: ${grouped(rows)} rows${percent}, ${speed}`);
      }
      if (nowMs - drawnMs < drawEveryMs) return;
      drawnMs = nowMs;
      const bar = share === null ? "" : `${draw(share, seconds)}  `;
      clear();
      // A narrow terminal cuts off the end.
      const line = `${what}  ${bar}${grouped(rows)} rows  ${speed}`;
      process.stderr.write(line.slice(0, (columnsOf(process.stderr) ?? 80) - 1));
    },
    [Symbol.dispose]: clear,
  };
}

/**
 * Runs steps, each of which yields the number of rows done so far, and shows their progress. Returns the last number. Throws a
 * UserError if a signal arrives before they end. `stopped` returns what was done by then, or null if nothing is left to do.
 */
export async function runWithProgress(
  what: string,
  total: number,
  output: Output,
  steps: AsyncIterable<number>,
  stopped: (done: number) => string | null,
): Promise<number> {
  using progress = createProgress(what, total, output);
  const { done, signal } = await runSteps(steps, (count) => progress.update(count, count));
  const left = signal === null ? null : stopped(done);
  if (signal === null || left === null) return done;
  throw stoppedBy(signal, left, "Run the command again to complete it.");
}

function draw(share: number, seconds: number): string {
  const full = Math.floor(share * barWidth);
  const left = Math.round(share === 0 ? 0 : (seconds / share) * (1 - share));
  const time = left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`;
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${Math.floor(share * 100)}%  ${time} left`;
}

/** Returns a function that prints a line, at most one every three seconds. */
export function throttle(output: Output): (line: () => string) => void {
  let printedMs = performance.now();
  return (line) => {
    const nowMs = performance.now();
    if (nowMs - printedMs < lineEveryMs) return;
    printedMs = nowMs;
    output.say(line());
  };
}
