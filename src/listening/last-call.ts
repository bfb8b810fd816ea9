/** A stop that loses no request of a busy client: what is on its way is answered, and its connection closed behind it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "bun";

/** Within this time a busy client sends its next request. */
const lastCallMs = 250;
/** How long requests under way may take when the server stops. */
const stopMs = 5_000;

type Handler = (request: Request) => Response | Promise<Response>;

/**
 * A handler like the given one, and its stop. Bun closes each connection that has no request, though the next one may be
 * on its way. So the stop leaves whoever asks without an answer for a moment: then every busy client waits for one,
 * which says that it is the last.
 */
export function withLastCall(handle: Handler, waitMs = lastCallMs) {
  let closing: Promise<void> | null = null;
  return {
    handle: (request: Request): Response | Promise<Response> =>
      closing === null ? handle(request) : closing.then(() => handle(request)).then(asLast),
    /** Takes no new connections, lets the requests under way be answered, then closes all. */
    async stop(server: Server<undefined>): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      closing = promise;
      await Bun.sleep(waitMs);
      const stopped = server.stop();
      resolve();
      // What is left of the patience must not keep the process alive.
      await Promise.race([stopped, sleep(stopMs, undefined, { ref: false })]);
      // Only idle connections are left, which clients keep open.
      await server.stop(true);
    },
  };
}

function asLast(answer: Response): Response {
  answer.headers.set("Connection", "close");
  return answer;
}
