/** The certificate and the private key for TLS, read from PEM files and checked against each other. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** The texts of the PEM files. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

type Name = "TLS_CERT" | "TLS_KEY";

/** Which of the two settings is wrong, and what it takes. */
interface TlsFault {
  readonly name: Name;
  readonly accepts: string;
}

/** Reads both files. Gives a fault where one is missing or no PEM, and where they do not belong together. */
export function readTlsPair({ TLS_CERT, TLS_KEY }: Record<Name, string | null>): TlsPair | TlsFault {
  if (TLS_CERT === null) return { name: "TLS_CERT", accepts: "a PEM file, because TLS_KEY is set: both or none" };
  if (TLS_KEY === null) return { name: "TLS_KEY", accepts: "a PEM file, because TLS_CERT is set: both or none" };
  const cert = readPem("TLS_CERT", TLS_CERT, "CERTIFICATE");
  if (typeof cert !== "string") return cert;
  const key = readPem("TLS_KEY", TLS_KEY, "PRIVATE KEY");
  if (typeof key !== "string") return key;
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch {
    return { name: "TLS_CERT", accepts: "a PEM certificate that can be read, with a TLS_KEY that can" };
  }
  return { name: "TLS_KEY", accepts: "the private key of the certificate in TLS_CERT" };
}

function readPem(name: Name, path: string, holds: string): string | TlsFault {
  const accepts = `the path of a PEM file with a ${holds.toLowerCase()}`;
  try {
    const text = readFileSync(path, "utf8");
    return text.includes(`${holds}-----`) ? text : { name, accepts };
  } catch {
    return { name, accepts: `${accepts} that can be read` };
  }
}
