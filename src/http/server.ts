/** The listening side: Bun.serve around the app, and an orderly stop. */
import type { Config } from "../config.ts";
import { inFairTurns } from "../fair-turns.ts";
import { withLastCall } from "../last-call.ts";
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

/**
 * Listens on a port, and makes the app for it. Throws what Bun throws when the port is taken. No request is read before
 * this function is done.
 */
export function listen(
  { host, port, tls }: Pick<Config, "host" | "port" | "tls">,
  makeApp: (port: number, addressOf: AddressOf) => App,
  lastCallMs?: number,
): Listening {
  const { handle, stop } = withLastCall(
    inFairTurns((request) => app.fetch(withReadableUrl(request))),
    lastCallMs,
  );
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
    fetch: handle,
  });
  const actualPort = server.port ?? port;
  const app = makeApp(actualPort, (request) => server.requestIP(request)?.address);
  return {
    url: server.url.origin,
    port: actualPort,
    stop: () => stop(server),
  };
}

/**
 * The request under a URL that the router can read: it finds the path behind `http://` and a host. With TLS Bun gives
 * `https://`, and without a usable Host header the path alone.
 */
function withReadableUrl(request: Request): Request {
  const { url } = request;
  if (url.startsWith("http:")) return request;
  const value = url.startsWith("https:") ? url.replace("https:", "http:") : `http://localhost${url}`;
  return Object.defineProperty(request, "url", { value });
}
