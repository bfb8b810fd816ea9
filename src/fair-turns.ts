/**
 * Ends a turn of the event loop that takes too long. Bun takes new connections, and answers them, for as long as there is one
 * more: clients that keep opening them would keep everybody else out, and timers, too.
 */

/** How long a turn may take in which requests are answered at once. */
const longestTurnMs = 250;

/** Nothing while the turn is young; in a long one, what a request waits for: the next turn. */
export type EndOfTurn = () => Promise<void> | null;

export function watchTurns(elapsedMs: () => number = () => performance.now()): EndOfTurn {
  let beganMs: number | null = null;
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return () => {
    if (beganMs === null) {
      beganMs = elapsedMs();
      setImmediate(() => {
        beganMs = null;
      });
    }
    return elapsedMs() - beganMs > longestTurnMs ? nextTurn() : null;
  };
}
