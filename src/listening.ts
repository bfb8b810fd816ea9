/** A listening server: fair to all clients, with little patience for slow ones, and a stop that loses no request. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Server } from "bun";
import type { Config } from "./config.ts";

export type Address = Pick<Config, "host" | "port" | "tls">;

export interface Patience {
  /** Seconds until an answer must go out. Bytes that come slowly do not prolong them. */
  readonly idleSeconds?: number | undefined;
  readonly lastCallMs?: number | undefined;
}

type Handler = (request: Request) => Response | Promise<Response>;

interface Service extends Patience {
  readonly answer: Handler;
  readonly largestBodyBytes: number;
}

export interface Listener {
  /** The address that it really listens on, such as http://127.0.0.1:3000. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets the requests under way be answered, then closes all. */
  stop(): Promise<void>;
}

/** Listens on an address. Throws what Bun throws when it cannot be had. */
export function startListener(
  { host, port, tls }: Address,
  { answer, largestBodyBytes, idleSeconds = 10, lastCallMs }: Service,
): Listener & { readonly server: Server<undefined> } {
  const { handle, stop } = withLastCall(inFairTurns(answer), lastCallMs);
  const server = Bun.serve({
    hostname: host,
    port,
    ...(tls === null ? {} : { tls }),
    development: false,
    reusePort: false,
    idleTimeout: idleSeconds,
    maxRequestBodySize: largestBodyBytes,
    fetch: handle,
  });
  return { server, url: server.url.origin, port: server.port ?? port, stop: () => stop(server) };
}

/** How long a turn of the event loop may take in which requests are answered at once. */
const longestTurnMs = 250;

/**
 * A handler like the given one, but what comes late in a long turn waits for the next turn. Bun takes new connections and
 * answers them for as long as there is one more. Clients that keep opening connections would keep out everybody else.
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
    return elapsedMs() - beganMs > longestTurnMs ? nextTurn().then(() => handle(request)) : handle(request);
  };
}

/** Within this time a busy client sends its next request. */
const usualLastCallMs = 250;
/** How long requests under way may take when the server stops. */
const stopMs = 5_000;

/**
 * A handler like the given one, and its stop. Bun closes each connection that has no request, though the next one may be
 * on its way. So the stop leaves whoever asks without an answer for a moment: then every busy client waits for one,
 * which says that it is the last.
 */
export function withLastCall(handle: Handler, waitMs = usualLastCallMs) {
  let closing: Promise<void> | null = null;
  return {
    handle: (request: Request): Response | Promise<Response> =>
      closing === null ? handle(request) : closing.then(() => handle(request)).then(asLast),
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

/** What a request asks for. */
export interface Target {
  /** As it was sent, not decoded. */
  readonly path: string;
  /** Likewise, without its question mark. */
  readonly search: string;
}

/** The target of a request. Its URL begins with `http://` or `https://`; without a usable Host header, with the path. */
export function targetOf({ url }: Pick<Request, "url">): Target {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", "https://".length);
  const question = url.indexOf("?", start);
  if (question === -1) return { path: url.slice(start), search: "" };
  return { path: url.slice(start, question), search: url.slice(question + 1) };
}
