/**
 * Ends a turn of the event loop that takes too long. Bun takes new connections and answers them for as long as there is
 * one more. Clients that keep opening connections would keep out everybody else, and timers, too.
 */

/** How long a turn may take in which requests are answered at once. */
const longestTurnMs = 250;

/** Undefined while the turn is short; in a long turn a promise of the next turn, for which the request waits. */
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
