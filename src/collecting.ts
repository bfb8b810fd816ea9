/** Collecting garbage that the engine would let lie for as long as the machine has room: a server stays as small on a large one. */

/** A collection takes some 10 ms in which nothing is answered: this seldom, not one request in a hundred waits for it. */
const lookEveryMs = 3_000;
/** What may come together between two collections; a server that nobody asks collects nothing. */
const slackBytes = 4 * 1024 * 1024;

/** Begins to collect; what it returns ends it. */
export function keepCollecting(): () => void {
  let collectedBytes = 0;
  const timer = setInterval(() => {
    if (process.memoryUsage.rss() < collectedBytes + slackBytes) return;
    Bun.gc(true);
    collectedBytes = process.memoryUsage.rss();
  }, lookEveryMs);
  return () => clearInterval(timer);
}
