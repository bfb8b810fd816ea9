/** The listening side of the endpoint: Bun.serve, fair to all clients, and with little patience for slow ones. */
import type { Server } from "bun";
import { inFairTurns } from "../fair-turns.ts";
import { listeningFailure } from "../operator/listening-failure.ts";
import { mostBytes } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";

interface EndpointAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

/** Seconds until an answer must go out. Bytes that trickle in do not prolong them. */
const longestIdleSeconds = 10;

/** Listens for deliveries; throws a UserError when the address cannot be had. */
export function listenForDeliveries(
  address: EndpointAddress,
  endpoint: Endpoint,
  idleTimeout = longestIdleSeconds,
): Server<undefined> {
  const { host, port, tls } = address;
  try {
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
  } catch (cause) {
    throw listeningFailure(cause, address, "RECEIVE_");
  }
}
