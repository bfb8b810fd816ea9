/**
 * Ends a turn of the event loop that takes too long. Bun takes new connections and answers them for as long as there is
 * one more. Clients that keep opening connections would keep out everybody else, and timers, too.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

/** How long a turn may take in which requests are answered at once. */
const longestTurnMs = 250;

type Handler = (request: Request) => Response | Promise<Response>;

/** A handler like the given one, but what comes late in a long turn waits for the next turn. */
export function inFairTurns(handle: Handler, elapsedMs: () => number = () => performance.now()): Handler {
  let beganMs: number | null = null;
  return (request) => {
    if (beganMs === null) {
      beganMs = elapsedMs();
      setImmediate(() => {
        beganMs = null;
      });
    }
    return elapsedMs() - beganMs > longestTurnMs ? nextTurn().then(() => handle(request)) : handle(request);
  };
}
