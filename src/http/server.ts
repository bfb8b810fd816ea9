/** The listening side: the app on a port, and an orderly stop. */
import { type Address, type Listener, startListener } from "../listening.ts";
import type { createApp } from "./app.ts";
import type { AddressOf } from "./app-parts.ts";

type App = ReturnType<typeof createApp>;

export interface Listening extends Listener {
  readonly port: number;
}

/**
 * Listens on a port, and makes the app for it. Throws what Bun throws when the port is taken. No request is read before
 * this function is done.
 */
export function listen(
  address: Address,
  makeApp: (port: number, addressOf: AddressOf) => App,
  lastCallMs?: number,
): Listening {
  const { server, url, stop } = startListener(address, {
    answer: (request) => app.fetch(withReadableUrl(request)),
    // A body is never read: whatever its size, the answer is about the method.
    largestBodyBytes: Number.MAX_SAFE_INTEGER,
    lastCallMs,
  });
  const port = server.port ?? address.port;
  const app = makeApp(port, (request) => server.requestIP(request)?.address);
  return { url, port, stop };
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
