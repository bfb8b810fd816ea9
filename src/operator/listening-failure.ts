/** What the operator is told when a server cannot listen: one line that names the setting to change. */

import { UserError } from "../user-error.ts";
import { systemCode } from "./system-code.ts";

interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: object | null;
}

/** `prefix` begins the names of the settings, such as `RECEIVE_`. */
export function listeningFailure(cause: unknown, { host, port, tls }: Address, prefix = ""): UserError {
  const code = systemCode(cause) ?? "";
  if (code === "EADDRINUSE") {
    return new UserError(
      `Port ${port} on ${host} is in use.`,
      `End the program that has it, or set ${prefix}PORT to another one.`,
    );
  }
  if (code === "EACCES" && port < 1024) {
    return new UserError(`Port ${port} is for privileged programs.`, `Set ${prefix}PORT to 1024 or more.`);
  }
  // A name that nobody knows and an address of another machine give one or the other of these.
  if (["EADDRNOTAVAIL", "EINVAL", "ENOENT", "ERR_INVALID_ARG_TYPE"].includes(code)) {
    return new UserError(
      `${prefix}HOST is ${JSON.stringify(host)}, but it takes an address or a name of this machine.`,
      "",
      2,
    );
  }
  const said = cause instanceof Error ? cause.message : String(cause);
  if (tls !== null) {
    return new UserError(`TLS could not be set up (${said}).`, "Check that TLS_CERT and TLS_KEY are PEM and a pair.");
  }
  return new UserError(
    `Listening on ${host}, port ${port}, failed (${said}).`,
    `Set ${prefix}HOST to another address.`,
  );
}
