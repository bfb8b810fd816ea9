/** The listening side of the endpoint: Bun.serve around it, fair to clients, and short with slow ones. */
import type { Server } from "bun";
import { watchTurns } from "../fair-turns.ts";
import { mostBytes } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";

export interface EndpointAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

/** Seconds without an answer going out: bytes that trickle in do not prolong a connection. */
const longestIdleSeconds = 10;

/** Listens for deliveries; throws what Bun throws when the address cannot be had. */
export function listenForDeliveries(
  { host, port, tls }: EndpointAddress,
  endpoint: Endpoint,
  idleTimeout = longestIdleSeconds,
): Server<undefined> {
  const endOfTurn = watchTurns();
  return Bun.serve({
    hostname: host,
    port,
    ...(tls === null ? {} : { tls }),
    development: false,
    reusePort: false,
    idleTimeout,
    // The endpoint counts for itself, so that a body that is too large gets a sentence.
    maxRequestBodySize: 64 * mostBytes,
    fetch(request) {
      const wait = endOfTurn();
      return wait === null ? endpoint(request) : wait.then(() => endpoint(request));
    },
  });
}
