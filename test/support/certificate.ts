/** A self-signed certificate, created for each test: one in the repository would expire. */
import { join } from "node:path";
import { aFolder } from "./folder.ts";

export interface Certificate {
  readonly folder: string;
  readonly TLS_CERT: string;
  readonly TLS_KEY: string;
}

export function aCertificate({ days = 2, names = ["localhost"], key = "ec" } = {}): Certificate {
  const folder = aFolder();
  const alternatives = [...names.map((name) => `DNS:${name}`), "IP:127.0.0.1"].join();
  const subject = ["-subj", `/CN=${names[0]}`, "-addext", `subjectAltName=${alternatives}`];
  const curve = key === "ec" ? ["-pkeyopt", "ec_paramgen_curve:prime256v1"] : [];
  const how = ["-x509", "-newkey", key, ...curve, "-nodes", "-days", String(days)];
  const made = Bun.spawnSync(["openssl", "req", ...how, ...subject, "-keyout", "key.pem", "-out", "cert.pem"], {
    cwd: folder,
  });
  if (made.exitCode !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`);
  return { folder, TLS_CERT: join(folder, "cert.pem"), TLS_KEY: join(folder, "key.pem") };
}
