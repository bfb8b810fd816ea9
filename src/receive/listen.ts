/** The listening side of the endpoint: Bun.serve, fair to all clients, and with little patience for slow ones. */
import type { Server } from "bun";
import { inFairTurns } from "../fair-turns.ts";
import { mostBytes } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";

export interface EndpointAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

/** Seconds until an answer must go out. Bytes that trickle in do not prolong them. */
const longestIdleSeconds = 10;

/** Listens for deliveries; throws what Bun throws when the address cannot be had. */
export function listenForDeliveries(
  { host, port, tls }: EndpointAddress,
  endpoint: Endpoint,
  idleTimeout = longestIdleSeconds,
): Server<undefined> {
  return Bun.serve({
    hostname: host,
    port,
    ...(tls === null ? {} : { tls }),
    development: false,
    reusePort: false,
    idleTimeout,
    // The endpoint counts bytes itself, so that a body that is too large gets an answer in words.
    maxRequestBodySize: 64 * mostBytes,
    fetch: inFairTurns(endpoint),
  });
}
