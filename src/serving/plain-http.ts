/** Warns whoever starts a listener of secrets that would cross the network in the clear. */
import { isInTheClear } from "../config.ts";
import { writeNow } from "../operator/standard-streams.ts";

/** `secrets` says what it is that requests carry. */
export function warnOfPlainHttp(address: Parameters<typeof isInTheClear>[0], secrets: string): void {
  if (!isInTheClear(address)) return;
  writeNow(
    2,
    `Warning: ${address.host} can be reached from other machines without TLS, and ${secrets} would cross the network in ` +
      "the clear. Set TLS_CERT and TLS_KEY, or TRUST_PROXY=1 behind a proxy that gives TLS.\n",
  );
}
