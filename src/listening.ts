/** Messages to the operator about the address that a server listens on. */

import { isInTheClear } from "./config.ts";
import { printMessage, systemCode } from "./process.ts";
import { UserError } from "./user-error.ts";

interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: object | null;
}

/** Returns the error of a failed start to listen. `prefix` begins the names of the settings, such as `RECEIVE_`. */
export function listeningFailure(cause: unknown, { host, port, tls }: Address, prefix = ""): UserError {
  const code = systemCode(cause) ?? "";
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
      `${prefix}HOST is ${JSON.stringify(host)}, but it takes an address or name of this machine.`,
      "",
      2,
    );
  }
  const said = cause instanceof Error ? cause.message : String(cause);
  if (tls !== null) {
    return new UserError(
      `TLS could not be set up (${said}).`,
      "Check that TLS_CERT and TLS_KEY are PEM files that belong together.",
    );
  }
  return new UserError(
    `Listening on ${host}, port ${port}, failed (${said}).`,
    `Set ${prefix}HOST to another address.`,
  );
}

/** Warns if `secrets`, such as API keys, would cross the network unencrypted. */
export function warnOfPlainHttp(address: Parameters<typeof isInTheClear>[0], secrets: string): void {
  if (!isInTheClear(address)) return;
  printMessage(
    `Warning: ${address.host} can be reached from other machines without TLS, and ${secrets} would cross the network ` +
      "unencrypted. Set TLS_CERT and TLS_KEY, or TRUST_PROXY=1 behind a proxy with TLS.",
  );
}
