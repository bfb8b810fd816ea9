/** How far an import is: a bar on a terminal, a line every few seconds elsewhere. */
import { Presets, SingleBar } from "cli-progress";
import type { Counts } from "../../ingest/run.ts";
import type { Source } from "../../ingest/source.ts";
import type { Output } from "../terminal/output.ts";

export interface Progress {
  update(counts: Readonly<Counts>): void;
  stop(): void;
}

const lineEveryMs = 3000;

export function createProgress(source: Source, output: Output): Progress {
  return process.stderr.isTTY ? bar(source) : lines(source, output);
}

function bar({ bytesRead, size }: Source): Progress {
  const startedMs = performance.now();
  const format =
    size === null ? "{rows} rows  {speed} rows/s" : "{bar} {percentage}%  {rows} rows  {speed} rows/s  {left} left";
  const single = new SingleBar(
    { format, stream: process.stderr, hideCursor: true, clearOnComplete: true, barsize: 24 },
    Presets.shades_classic,
  );
  let started = false;
  // The bar hides the cursor. Once it is back, Ctrl-C does what it does without a bar.
  const interrupt = () => {
    single.stop();
    process.kill(process.pid, "SIGINT");
  };
  process.once("SIGINT", interrupt);
  return {
    update(counts) {
      const seconds = (performance.now() - startedMs) / 1000;
      const share = size === null ? 0 : bytesRead() / Math.max(size, 1);
      const payload = {
        rows: grouped(counts.read),
        speed: grouped(Math.round(counts.read / seconds)),
        left: duration(share === 0 ? 0 : (seconds / share) * (1 - share)),
      };
      if (started) single.update(bytesRead(), payload);
      else single.start(size ?? 1, bytesRead(), payload);
      started = true;
    },
    stop() {
      process.off("SIGINT", interrupt);
      single.stop();
    },
  };
}

function lines({ bytesRead, size }: Source, output: Output): Progress {
  const startedMs = performance.now();
  let saidMs = startedMs;
  return {
    update(counts) {
      const nowMs = performance.now();
      if (nowMs - saidMs < lineEveryMs) return;
      saidMs = nowMs;
      const speed = Math.round(counts.read / ((nowMs - startedMs) / 1000));
      const share = size === null ? "" : ` (${Math.floor((100 * bytesRead()) / Math.max(size, 1))} %)`;
      output.say(`${grouped(counts.read)} rows${share}, ${grouped(speed)} rows/s`);
    },
    stop: () => undefined,
  };
}

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** A number with its thousands grouped: 1,204. */
export function grouped(number: number): string {
  return number.toLocaleString("en-US");
}
