/** The listening side: Bun.serve around the app, and an orderly stop. */
import { watchTurns } from "../fair-turns.ts";
import type { createApp } from "./app.ts";
import type { AddressOf } from "./app-parts.ts";

type App = ReturnType<typeof createApp>;

export interface Listening {
  /** The address that it really listens on, such as http://127.0.0.1:3000. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets the requests under way be answered, then closes all. */
  stop(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

/** How long requests under way may take when the server stops. */
const stopMs = 5_000;

/**
 * Listens on a port, and makes the app for it. Throws what Bun throws when the port is taken. No request is read before
 * this function is done.
 */
export function listen(
  { host, port, tls }: ListenOptions,
  makeApp: (port: number, addressOf: AddressOf) => App,
): Listening {
  let app: App | null = null;
  const originals = new WeakMap<Request, Request>();
  const endOfTurn = watchTurns();
  const server = Bun.serve({
    hostname: host,
    port,
    ...(tls === null ? {} : { tls }),
    development: false,
    reusePort: false,
    // Seconds without an answer: bytes that come slowly do not keep a connection open longer.
    idleTimeout: 10,
    // A body is never read: whatever its size, the answer is about the method.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request): Response | Promise<Response> {
      const readable = withReadableUrl(request);
      if (readable !== request) originals.set(readable, request);
      const { fetch } = app ?? refuseEarly();
      const wait = endOfTurn();
      return wait === null ? fetch(readable) : wait.then(() => fetch(readable));
    },
  });
  const actualPort = server.port ?? port;
  app = makeApp(actualPort, (request) => server.requestIP(originals.get(request) ?? request)?.address);
  return {
    url: server.url.origin,
    port: actualPort,
    async stop() {
      const stopped = server.stop();
      const endMs = performance.now() + stopMs;
      while (server.pendingRequests > 0 && performance.now() < endMs) await Bun.sleep(5);
      // Only idle connections are left, which clients keep open.
      await server.stop(true);
      await stopped;
    },
  };
}

/**
 * The router finds the path behind `http://` and a host. Without a usable Host header Bun gives the path alone, and
 * with TLS `https://`.
 */
function withReadableUrl(request: Request): Request {
  const { url, method, headers } = request;
  if (url.startsWith("http:") || !/^(?:GET|HEAD)$/.test(method)) return request;
  const readable = url.startsWith("https:") ? `http:${url.slice("https:".length)}` : `http://localhost${url}`;
  return new Request(readable, { method, headers });
}

function refuseEarly(): never {
  throw new Error("a request came before the app was made");
}
