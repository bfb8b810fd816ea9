/** What is said during long work, on standard error: standard output carries the result alone. */

const lineEveryMs = 60_000;

/** Says something. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Returns a function that says how much of some work is done, at most once a minute. */
export function createProgress(what: string, total: number): (done: number) => void {
  let saidMs = Number.NEGATIVE_INFINITY;
  return (done) => {
    if (performance.now() < saidMs + lineEveryMs) return;
    saidMs = performance.now();
    note(`${what}: ${done} of ${total}`);
  };
}
