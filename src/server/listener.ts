/** A listening server that is fair to all clients, impatient with slow ones, and loses no request when it stops. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Server } from "bun";
import type { Config } from "../config.ts";
import { type Handler, routesAsSent } from "./targets.ts";

export type Address = Pick<Config, "host" | "port" | "tls">;

export interface Patience {
  /** Seconds until an answer must go out. Bytes that come slowly do not prolong them. */
  readonly idleSeconds?: number | undefined;
  readonly lastCallMs?: number | undefined;
}

/** A handler, and the paths that it knows, such as /api/v1/leads or /in/:token. */
interface Service {
  /** Answers a request, whose URL begins with `http://`, a host, and a slash. */
  readonly answer: Handler;
  readonly paths: readonly string[];
}

interface ListenerParts extends Patience {
  /** Makes the service for the server that is listening. No request is read before it returns. */
  readonly serviceOn: (server: Server<undefined>) => Service;
  readonly maxBodyBytes: number;
}

export type Listener = ReturnType<typeof startListener>;

/** Listens on an address. Throws what Bun throws if that fails. */
export function startListener(
  { host, port, tls }: Address,
  { serviceOn, maxBodyBytes, idleSeconds = 10, lastCallMs = defaultLastCallMs }: ListenerParts,
) {
  const server = Bun.serve({
    hostname: host,
    port,
    ...(tls === null ? {} : { tls: { ...tls, ciphers } }),
    development: false,
    reusePort: false,
    idleTimeout: idleSeconds,
    maxRequestBodySize: maxBodyBytes,
    fetch: () => new Response(null, { status: 503 }),
  });
  const { answer, paths } = serviceOn(server);
  const handle = inFairTurns(tls === null ? answer : withStrictTransport(answer));
  let lastCall: Promise<void> | null = null;
  const handleUntilStop: Handler = (request) =>
    lastCall === null ? handle(request) : lastCall.then(() => handle(request)).then(asLast);
  server.reload(routesAsSent(handleUntilStop, paths));

  /**
   * Accepts no new connections, lets the requests in progress be answered, then closes all. Bun closes a connection without a
   * request, although the next one may be on its way. So for a short time no request is answered. Then every busy client has
   * sent one, and the answer says that it is the last.
   */
  async function stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    lastCall = promise;
    await Bun.sleep(lastCallMs);
    const stopped = server.stop();
    resolve();
    // What is left of this time must not keep the process alive.
    await Promise.race([stopped, sleep(stopMs, undefined, { ref: false })]);
    // Only idle connections are left, which clients keep open.
    await server.stop(true);
  }

  return {
    /** The address that it really listens on, such as http://127.0.0.1:3000. */
    url: server.url.origin,
    port: server.port ?? port,
    stop,
  };
}

/** The ciphers of TLS 1.2 with forward secrecy: a key that leaks later decrypts nothing that was recorded. */
const ciphers = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
  .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
  .join(":");

/** Tells browsers for a year to use only HTTPS (HSTS), as a proxy with TLS would. */
function withStrictTransport(answer: Handler): Handler {
  const add = (response: Response) => {
    response.headers.set("Strict-Transport-Security", "max-age=31536000");
    return response;
  };
  return (request) => {
    const response = answer(request);
    return response instanceof Response ? add(response) : response.then(add);
  };
}

/** Within this time, a busy client sends its next request. */
const defaultLastCallMs = 250;
/** The time that requests in progress have when the server stops. */
const stopMs = 5_000;

function asLast(answer: Response): Response {
  answer.headers.set("Connection", "close");
  return answer;
}

/** A turn of the event loop answers requests at once until it has exceeded both limits. */
const maxTurn = { ms: 250, requests: 100 } as const;

/**
 * Makes a handler like the given one, but a request that comes late in a long turn waits for the next turn. Bun accepts
 * new connections and answers them for as long as there is one more: clients that keep opening connections would lock
 * out everybody else. Bun closes the connection of a request that waits if the client has already sent the next one: a
 * slow machine alone must not make a request late.
 */
export function inFairTurns(handle: Handler, elapsedMs: () => number = () => performance.now()): Handler {
  let beganMs = 0;
  let requests = 0;
  return (request) => {
    if (requests === 0) {
      beganMs = elapsedMs();
      setImmediate(() => {
        requests = 0;
      });
    }
    requests++;
    const isLate = requests > maxTurn.requests && elapsedMs() - beganMs > maxTurn.ms;
    return isLate ? nextTurn().then(() => handle(request)) : handle(request);
  };
}
