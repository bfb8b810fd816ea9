/** How far a long run has come: a bar on a terminal, a line every few seconds elsewhere. A short run says nothing. */
import { Presets, SingleBar } from "cli-progress";
import { grouped } from "./numbers.ts";
import type { Output } from "./output.ts";

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

function bar(what: string, total: number | null): Progress {
  const startedMs = performance.now();
  const rows = "{rows} rows  {speed} rows/s";
  // What matters least stands last: a narrow terminal cuts it.
  const format = total === null ? `${what}  ${rows}` : `${what}  {bar} {percentage}%  {left} left  ${rows}`;
  const single = new SingleBar(
    { format, stream: process.stderr, hideCursor: true, clearOnComplete: true, barsize: 12 },
    Presets.shades_classic,
  );
  let started = false;
  // The bar hides the cursor, which has to come back however the process ends.
  const stop = () => single.stop();
  process.once("exit", stop);
  return {
    update(done, rows) {
      const seconds = (performance.now() - startedMs) / 1000;
      const share = total === null ? 0 : shareOf(done, total);
      const payload = {
        rows: grouped(rows),
        speed: grouped(Math.round(rows / seconds)),
        left: duration(share === 0 ? 0 : (seconds / share) * (1 - share)),
      };
      if (started) single.update(Math.min(done, total ?? done), payload);
      else single.start(total ?? 1, done, payload);
      started = true;
    },
    [Symbol.dispose]() {
      process.off("exit", stop);
      stop();
    },
  };
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
