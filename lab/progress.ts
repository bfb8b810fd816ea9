/** Progress messages on standard error; standard output carries only the result. */

const lineEveryMs = 60_000;

/** Prints a line. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Returns a function that prints how much of some work is done, at most once a minute. */
export function createProgress(what: string, total: number): (done: number) => void {
  let saidMs = Number.NEGATIVE_INFINITY;
  return (done) => {
    if (performance.now() < saidMs + lineEveryMs) return;
    saidMs = performance.now();
    note(`${what}: ${done} of ${total}`);
  };
}
