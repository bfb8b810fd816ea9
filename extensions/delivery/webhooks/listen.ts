/** The listening side of the endpoint. */
import { type Address, type Listener, type Patience, startListener } from "../../../src/api/listener.ts";
import { listeningFailure } from "../../../src/listening.ts";
import { mostBytes } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";

/** Listens for deliveries; throws a UserError when the address cannot be had. */
export function listenForDeliveries(address: Address, endpoint: Endpoint, patience: Patience = {}): Listener {
  try {
    // The endpoint counts bytes itself, so that a body that is too large gets an answer in words.
    return startListener(address, { answer: endpoint, maxBodyBytes: 64 * mostBytes, ...patience });
  } catch (cause) {
    throw listeningFailure(cause, address, "RECEIVE_");
  }
}
