/** A listening server that is fair to all clients, impatient with slow ones, and loses no request when it stops. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Server } from "bun";
import type { Config } from "../config.ts";

export type Address = Pick<Config, "host" | "port" | "tls">;

export interface Patience {
  /** Seconds until an answer must go out. Bytes that come slowly do not prolong them. */
  readonly idleSeconds?: number | undefined;
  readonly lastCallMs?: number | undefined;
}

type Handler = (request: Request) => Response | Promise<Response>;

interface Service extends Patience {
  /** Answers a request, whose URL begins with `http://`, a host, and a slash. */
  readonly answer: Handler;
  readonly maxBodyBytes: number;
}

export type Listener = ReturnType<typeof startListener>;

/** Listens on an address. Throws what Bun throws if that fails. */
export function startListener(
  { host, port, tls }: Address,
  { answer, maxBodyBytes, idleSeconds = 10, lastCallMs }: Service,
) {
  const handle = inFairTurns((request) => answer(withReadableUrl(request)));
  const server = Bun.serve({
    hostname: host,
    port,
    ...(tls === null ? {} : { tls }),
    development: false,
    reusePort: false,
    idleTimeout: idleSeconds,
    maxRequestBodySize: maxBodyBytes,
    fetch: handle,
  });
  return {
    server,
    /** The address that it really listens on, such as http://127.0.0.1:3000. */
    url: server.url.origin,
    port: server.port ?? port,
    /** Accepts no new connections, lets the requests in progress be answered, then closes all. */
    stop: () => stopAfterLastCall(server, handle, lastCallMs),
  };
}

/** The time in one turn of the event loop in which requests are answered at once. */
const maxTurnMs = 250;

/**
 * Makes a handler like the given one, but a request that comes late in a long turn waits for the next turn. Bun accepts
 * new connections and answers them for as long as there is one more: clients that keep opening connections would lock
 * out everybody else.
 */
export function inFairTurns(handle: Handler, elapsedMs: () => number = () => performance.now()): Handler {
  let beganMs: number | null = null;
  return (request) => {
    if (beganMs === null) {
      beganMs = elapsedMs();
      setImmediate(() => {
        beganMs = null;
      });
    }
    return elapsedMs() - beganMs > maxTurnMs ? nextTurn().then(() => handle(request)) : handle(request);
  };
}

/**
 * Gives a request a URL of the one form that is read here: `http://`, a host, and the target as it was sent (elysia#748).
 * With TLS, Bun gives `https://`; without a usable Host header, the target alone; for CONNECT, a host and a port.
 */
export function withReadableUrl(request: Request): Request {
  const { url } = request;
  if (url.startsWith("http:")) return request;
  const target = url.startsWith("/") ? url : `/${url}`;
  const value = url.startsWith("https:") ? url.replace("https:", "http:") : `http://localhost${target}`;
  return Object.defineProperty(request, "url", { value });
}

/** Within this time, a busy client sends its next request. */
const defaultLastCallMs = 250;
/** The time that requests in progress have when the server stops. */
const stopMs = 5_000;

/**
 * Stops a server with the handler that answers its requests. Bun closes a connection without a request, although the next
 * one may be on its way. So for a short time no request is answered. Then every busy client has sent one, and the answer says
 * that it is the last.
 */
export async function stopAfterLastCall(
  server: Server<undefined>,
  handle: Handler,
  waitMs = defaultLastCallMs,
): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  server.reload({ fetch: (request) => isOver.then(() => handle(request)).then(asLast) });
  await Bun.sleep(waitMs);
  const stopped = server.stop();
  resolve();
  // What is left of this time must not keep the process alive.
  await Promise.race([stopped, sleep(stopMs, undefined, { ref: false })]);
  // Only idle connections are left, which clients keep open.
  await server.stop(true);
}

function asLast(answer: Response): Response {
  answer.headers.set("Connection", "close");
  return answer;
}
