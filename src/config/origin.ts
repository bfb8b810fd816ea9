/** Where the server is reached: from which machines, and at which origin. */
import { isIP } from "node:net";
import type { Config } from "../config.ts";

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return (
    /^(?:localhost|\[?(?:::1|(?:0:){7}1|::ffff:127\..*)\]?)$/i.test(host) ||
    (isIP(host) === 4 && host.startsWith("127."))
  );
}

/**
 * Whether keys would cross the network in the clear: other machines can reach the server, and there is no TLS.
 */
export function isInTheClear({ host, tls, trustProxy }: Pick<Config, "host" | "tls" | "trustProxy">): boolean {
  return !isLoopback(host) && tls === null && !trustProxy;
}

/** The public origin: as it was set, or that of the address. */
export function publicOrigin({ baseUrl, host, port, tls }: Config): string {
  return baseUrl ?? originOf(host, port, tls !== null);
}

/** Where vendors reach the webhook endpoint: behind the public origin, or at the address on which it listens. */
export function receiveOrigin({ baseUrl, receiveHost, receivePort, tls }: Config): string {
  return baseUrl ?? originOf(receiveHost, receivePort, tls !== null);
}

/** The origin at which this machine itself reaches the server; null where the port is chosen at each start. */
export function ownAddress({ host, port, tls }: Config): string | null {
  return port === 0 ? null : originOf(host, port, tls !== null);
}

/** The origin under which a server at an address is reached when nothing else was set. */
function originOf(host: string, port: number, secure: boolean): string {
  const name = /^(?:0(?:\.0){0,3}|::|::0|(?:0:){7}0)$/.test(host) ? "localhost" : host;
  const shown = name.includes(":") ? `[${name}]` : name;
  return new URL(`${secure ? "https" : "http"}://${shown}:${port}`).origin;
}
