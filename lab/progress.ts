/** The progress of long work: on a terminal one line that is rewritten, elsewhere a line a minute. */
import { SingleBar } from "cli-progress";

const lineEveryMs = 60_000;

export interface Progress {
  update(done: number): void;
  stop(): void;
}

/** Says on standard error that something has begun, and how much of it is done until it is stopped. */
export function createProgress(what: string, total: number): Progress {
  const bar = new SingleBar({
    format: `${what}: {value} of {total}`,
    stream: process.stderr,
    clearOnComplete: true,
    noTTYOutput: true,
    notTTYSchedule: lineEveryMs,
    // Without it a line that says the same again is left empty.
    forceRedraw: true,
    // The cursor stays visible, so nothing has to be put right when somebody interrupts.
    gracefulExit: false,
  });
  bar.start(total, 0);
  return bar;
}

/** Says something on standard error: standard output carries the result alone. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
