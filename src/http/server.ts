/** The listening side: Bun.serve around the app, and an orderly stop. */
import type { createApp } from "./app.ts";

type App = ReturnType<typeof createApp>;

export interface Listening {
  /** The address that it really listens on, such as http://127.0.0.1:3000. */
  readonly url: string;
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
 * Listens, with the app that is made for the port that was got; throws what Bun throws when there is none.
 * No request is read before this function is done.
 */
export function listen({ host, port, tls }: ListenOptions, makeApp: (port: number) => App): Listening {
  let app: App | null = null;
  const server = Bun.serve({
    hostname: host,
    port,
    ...(tls === null ? {} : { tls }),
    development: false,
    reusePort: false,
    // A body is never read: whatever its size, the answer is about the method.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request) => (app ?? refuseEarly()).fetch(withHost(request)),
  });
  app = makeApp(server.port ?? port);
  // Elysia hands it to the routes, which ask it for the address of a client.
  app.server = server;
  return {
    url: server.url.origin,
    async stop() {
      const stopped = server.stop();
      const endMs = performance.now() + stopMs;
      while (server.pendingRequests > 0 && performance.now() < endMs) await Bun.sleep(5);
      // What is left are idle connections that clients keep open.
      await server.stop(true);
      await stopped;
    },
  };
}

/** Without a usable Host header Bun gives a path for an URL, which no router can read. */
function withHost(request: Request): Request {
  if (request.method !== "GET" || !request.url.startsWith("/")) return request;
  return new Request(`http://localhost${request.url}`, { headers: request.headers });
}

function refuseEarly(): never {
  throw new Error("a request came before the app was made");
}
