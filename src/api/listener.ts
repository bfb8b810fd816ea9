/** A listening server, fair to all clients, and with little patience for slow ones. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Server } from "bun";
import type { Config } from "../config.ts";
import { stopAfterLastCall } from "./last-call.ts";

export type Address = Pick<Config, "host" | "port" | "tls">;

export interface Patience {
  /** Seconds until an answer must go out. Bytes that come slowly do not prolong them. */
  readonly idleSeconds?: number | undefined;
  readonly lastCallMs?: number | undefined;
}

type Handler = (request: Request) => Response | Promise<Response>;

interface Service extends Patience {
  /** Answers a request, whose URL begins with `http://` and a host. */
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
  const handle = inFairTurns((request) => answer(withReadableUrl(request)));
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
  const stop = () => stopAfterLastCall(server, handle, lastCallMs);
  return { server, url: server.url.origin, port: server.port ?? port, stop };
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

/**
 * The request under a URL of the one form that is read here: `http://`, a host, and the target as it was sent. With TLS
 * Bun gives `https://`, and without a usable Host header the target alone.
 */
export function withReadableUrl(request: Request): Request {
  const { url } = request;
  if (url.startsWith("http:")) return request;
  const value = url.startsWith("https:") ? url.replace("https:", "http:") : `http://localhost${url}`;
  return Object.defineProperty(request, "url", { value });
}
