/** The listening side of the endpoint: Bun.serve, fair to all clients, and with little patience for slow ones. */
import { inFairTurns } from "../fair-turns.ts";
import { withLastCall } from "../last-call.ts";
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

interface Patience {
  readonly idleSeconds?: number | undefined;
  readonly lastCallMs?: number;
}

interface Deliveries {
  /** The address that it really listens on. */
  readonly url: string;
  /** Takes no new connections, lets the deliveries under way be answered, then closes all. */
  stop(): Promise<void>;
}

/** Listens for deliveries; throws a UserError when the address cannot be had. */
export function listenForDeliveries(
  address: EndpointAddress,
  endpoint: Endpoint,
  { idleSeconds = longestIdleSeconds, lastCallMs }: Patience = {},
): Deliveries {
  const { host, port, tls } = address;
  const { handle, stop } = withLastCall(inFairTurns(endpoint), lastCallMs);
  try {
    const server = Bun.serve({
      hostname: host,
      port,
      ...(tls === null ? {} : { tls }),
      development: false,
      reusePort: false,
      idleTimeout: idleSeconds,
      // The endpoint counts bytes itself, so that a body that is too large gets an answer in words.
      maxRequestBodySize: 64 * mostBytes,
      fetch: handle,
    });
    return { url: server.url.origin, stop: () => stop(server) };
  } catch (cause) {
    throw listeningFailure(cause, address, "RECEIVE_");
  }
}
