/** The certificate and the private key for TLS, read from PEM files and checked against each other. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Environment, given, wrong } from "./settings.ts";

/** The texts of the PEM files. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads TLS_CERT and TLS_KEY; null where neither is set. Throws a UserError where one is missing or no PEM, and where they
 * do not belong together.
 */
export function readTlsSettings(environment: Environment): TlsPair | null {
  const certPath = given(environment, "TLS_CERT");
  const keyPath = given(environment, "TLS_KEY");
  if (certPath === null && keyPath === null) return null;
  if (certPath === null) throw wrong("TLS_CERT", "", "a PEM file, because TLS_KEY is set: both or none");
  if (keyPath === null) throw wrong("TLS_KEY", "", "a PEM file, because TLS_CERT is set: both or none");
  const cert = readPem("TLS_CERT", certPath, "CERTIFICATE");
  const key = readPem("TLS_KEY", keyPath, "PRIVATE KEY");
  const isPair = arePair(cert, key);
  if (isPair === null) throw wrong("TLS_CERT", certPath, "a PEM certificate that can be read, with a TLS_KEY that can");
  if (!isPair) throw wrong("TLS_KEY", keyPath, "the private key of the certificate in TLS_CERT");
  return { cert, key };
}

/** Null where one of them cannot be read. */
function arePair(cert: string, key: string): boolean | null {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return null;
  }
}

function readPem(name: "TLS_CERT" | "TLS_KEY", path: string, holds: string): string {
  const accepts = `the path of a PEM file with a ${holds.toLowerCase()}`;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw wrong(name, path, `${accepts} that can be read`);
  }
  if (!text.includes(`${holds}-----`)) throw wrong(name, path, accepts);
  return text;
}
