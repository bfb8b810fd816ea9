/** The address of a server: its origin, who can reach it, and the messages for an address that cannot be used. */
import { X509Certificate } from "node:crypto";
import type { Config } from "../config.ts";
import { dayOf } from "../contract/calendar.ts";
import { codeOf } from "../db/failure.ts";
import { isLoopback } from "../runtime/loopback.ts";
import { printMessage } from "../runtime/process.ts";
import { UserError } from "../runtime/user-error.ts";
import type { Address } from "./listener.ts";

/**
 * Returns the error for a server that could not listen. The prefix is that of the names of its settings, such as
 * RECEIVE_.
 */
export function listeningFailure(cause: unknown, { host, port, tls }: Address, prefix = ""): UserError {
  const code = codeOf(cause);
  if (code === "EADDRINUSE") {
    return new UserError(
      `Port ${port} on ${host} is in use.`,
      `Stop the program that uses it, or set ${prefix}PORT to another port.`,
    );
  }
  if (code === "EACCES" && port < 1024) {
    return new UserError(`Only root can listen on port ${port}.`, `Set ${prefix}PORT to 1024 or more.`);
  }
  // An unknown name and an address of another machine give one of these.
  if (["EADDRNOTAVAIL", "EINVAL", "ENOENT", "ERR_INVALID_ARG_TYPE"].includes(code)) {
    return new UserError(
      `${prefix}HOST is ${JSON.stringify(host)}, which is not an address of this machine.`,
      `Set ${prefix}HOST to 127.0.0.1, 0.0.0.0, or another address of this machine.`,
      2,
    );
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  if (tls !== null) {
    return new UserError(
      `TLS could not be set up (${detail}).`,
      "Check that TLS_CERT and TLS_KEY are PEM files, and that the key matches the certificate.",
    );
  }
  return new UserError(
    `Listening on ${host}, port ${port}, failed (${detail}).`,
    `Set ${prefix}HOST to another address.`,
  );
}

/** Warns if `secrets`, such as API keys, would cross the network unencrypted. */
export function warnOfPlainHttp(address: Reachable, secrets: string): void {
  if (!isInTheClear(address)) return;
  printMessage(
    `Warning: ${address.host} can be reached from other machines without TLS, and ${secrets} would cross the network ` +
      "unencrypted. Set TLS_CERT and TLS_KEY, or TRUST_PROXY=1 behind a proxy with TLS.",
  );
}

/** Prints a warning if clients will refuse the certificate of TLS_CERT because of its dates. */
export function warnOfCertificate(tls: Config["tls"], nowMs: number): void {
  if (tls === null) return;
  const { validFrom, validTo } = new X509Certificate(tls.cert);
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  if (toMs <= nowMs)
    printMessage(
      `Warning: the certificate in TLS_CERT expired on ${dayOf(toMs)}: clients refuse it. Renew it, and restart.`,
    );
  if (fromMs > nowMs)
    printMessage(
      `Warning: the certificate in TLS_CERT is not valid before ${dayOf(fromMs)}: clients refuse it. Check the clock.`,
    );
}

type Reachable = Pick<Config, "host" | "tls" | "trustProxy">;

/** Returns whether keys would cross the network unencrypted: other machines can reach the server, and there is no TLS. */
export function isInTheClear({ host, tls, trustProxy }: Reachable): boolean {
  return !isLoopback(host) && tls === null && !trustProxy;
}

/** Returns BASE_URL, or the origin of the address. */
export function publicOrigin({ baseUrl, host, port, tls }: Config): string {
  return baseUrl ?? originOf(host, port, tls !== null);
}

/** Returns the origin at which vendors reach the webhook endpoint: BASE_URL, or the address on which it listens. */
export function receiveOrigin({ baseUrl, receiveHost, receivePort, tls }: Config): string {
  return baseUrl ?? originOf(receiveHost, receivePort, tls !== null);
}

/** Returns the origin at which this machine itself reaches the server; null if the port is chosen at each start. */
export function ownAddress({ host, port, tls }: Config): string | null {
  return port === 0 ? null : originOf(host, port, tls !== null);
}

function originOf(host: string, port: number, secure: boolean): string {
  const name = /^(?:0(?:\.0){0,3}|::|::0|(?:0:){7}0)$/.test(host) ? "localhost" : host;
  const shown = name.includes(":") ? `[${name}]` : name;
  return new URL(`${secure ? "https" : "http"}://${shown}:${port}`).origin;
}
