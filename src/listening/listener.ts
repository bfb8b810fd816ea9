/** A listening server: fair to all clients, with little patience for slow ones, and a stop that loses no request. */
import type { Server } from "bun";
import type { Config } from "../config.ts";
import { inFairTurns } from "./fair-turns.ts";
import { withLastCall } from "./last-call.ts";

export type Address = Pick<Config, "host" | "port" | "tls">;

export interface Patience {
  /** Seconds until an answer must go out. Bytes that come slowly do not prolong them. */
  readonly idleSeconds?: number | undefined;
  readonly lastCallMs?: number | undefined;
}

interface Service extends Patience {
  readonly answer: (request: Request) => Response | Promise<Response>;
  readonly largestBodyBytes: number;
}

export interface Listener {
  /** The address that it really listens on, such as http://127.0.0.1:3000. */
  readonly url: string;
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
  return { server, url: server.url.origin, stop: () => stop(server) };
}
