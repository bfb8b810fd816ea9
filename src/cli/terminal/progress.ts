/** How far a long run has come: a bar on a terminal, a line every few seconds elsewhere. A short run says nothing. */
import { grouped } from "./numbers.ts";
import type { Output } from "./output.ts";
import { columnsOf } from "./table.ts";

/** It stands until its block ends. */
interface Progress extends Disposable {
  /** How much of the total is done, and how many rows that are. */
  update(done: number, rows: number): void;
}

const lineEveryMs = 3000;

/** Begins to show how far something is. A total of null says that nobody knows how much is left. */
export function createProgress(what: string, total: number | null, output: Output): Progress {
  return process.stderr.isTTY ? bar(what, total) : lines(what, total, output);
}

const barWidth = 12;
const drawEveryMs = 100;

function bar(what: string, total: number | null): Progress {
  const startedMs = performance.now();
  let drawnMs = Number.NEGATIVE_INFINITY;
  const clear = () => process.stderr.write("\r\u001b[K");
  return {
    update(done, rows) {
      const nowMs = performance.now();
      if (nowMs - drawnMs < drawEveryMs) return;
      drawnMs = nowMs;
      const seconds = (nowMs - startedMs) / 1000;
      const speed = `${grouped(rows)} rows  ${grouped(Math.round(rows / seconds))} rows/s`;
      // The least important part is last: a narrow terminal cuts it off.
      const line = total === null ? `${what}  ${speed}` : `${what}  ${drawn(shareOf(done, total), seconds)}  ${speed}`;
      clear();
      process.stderr.write(line.slice(0, (columnsOf(process.stderr) ?? 80) - 1));
    },
    [Symbol.dispose]: () => void clear(),
  };
}

function drawn(share: number, seconds: number): string {
  const full = Math.floor(share * barWidth);
  const left = share === 0 ? 0 : (seconds / share) * (1 - share);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${Math.floor(share * 100)}%  ${duration(left)} left`;
}

function lines(what: string, total: number | null, output: Output): Progress {
  const startedMs = performance.now();
  const say = throttle(output);
  return {
    update(done, rows) {
      say(() => {
        const speed = Math.round(rows / ((performance.now() - startedMs) / 1000));
        const share = total === null ? "" : ` (${Math.floor(100 * shareOf(done, total))} %)`;
        return `${what}: ${grouped(rows)} rows${share}, ${grouped(speed)} rows/s`;
      });
    },
    [Symbol.dispose]: () => undefined,
  };
}

/** At most all of it: what is counted may grow meanwhile, as an import that still runs does while it is taken back. */
function shareOf(done: number, total: number): number {
  return Math.min(1, done / Math.max(total, 1));
}

/** Says a line unless it said one less than three seconds ago. */
export function throttle(output: Output): (line: () => string) => void {
  let saidMs = performance.now();
  return (line) => {
    const nowMs = performance.now();
    if (nowMs - saidMs < lineEveryMs) return;
    saidMs = nowMs;
    output.say(line());
  };
}

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
