/** The stop of a server, which loses no request. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "bun";

/** Within this time a busy client sends its next request. */
const usualLastCallMs = 250;
/** How long requests under way may take when the server stops. */
const stopMs = 5_000;

/**
 * Stops a server with the handler that answers its requests. Bun closes a connection without a request, though the next
 * one may be on its way. So for a moment no request is answered. Then every busy client has sent one, and the answer says
 * that it is the last.
 */
export async function stopAfterLastCall(
  server: Server<undefined>,
  handle: (request: Request) => Response | Promise<Response>,
  waitMs = usualLastCallMs,
): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  server.reload({ fetch: (request) => isOver.then(() => handle(request)).then(asLast) });
  await Bun.sleep(waitMs);
  const stopped = server.stop();
  resolve();
  // What is left of the patience must not keep the process alive.
  await Promise.race([stopped, sleep(stopMs, undefined, { ref: false })]);
  // Only idle connections are left, which clients keep open.
  await server.stop(true);
}

function asLast(answer: Response): Response {
  answer.headers.set("Connection", "close");
  return answer;
}
