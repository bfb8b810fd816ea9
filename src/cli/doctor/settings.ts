/** Checks whether each setting is valid, and whether the settings fit together. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Config } from "../../config.ts";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import { isLoopback } from "../../runtime/loopback.ts";
import { isInTheClear, publicOrigin } from "../../server/listen-address.ts";
import { broken, type Examined, type Finding, fine, orFine, warning } from "./finding.ts";

/** Certificates of 90 days are renewed a month before they expire. With less than this left, the renewal has failed. */
const expiryDays = 21;

/** Examines the settings, and the certificate if there is one. */
export function checkSettings({ config, faults, nowMs }: Examined): Finding[] {
  if (config === null) {
    return faults.map(({ message }) =>
      broken("settings", message, "Correct it: the server does not start with this value."),
    );
  }
  const noLedger = "DISCLOSURES is off: the server does not record which key receives which leads.";
  return [
    ...checkExposure(config),
    ...(config.disclosures ? [] : [fine("settings", noLedger)]),
    ...(config.tls === null ? [] : checkCertificate(config.tls.cert, config.baseUrl, nowMs)),
  ];
}

function checkExposure(config: Config): Finding[] {
  const { host, trustProxy, baseUrl } = config;
  return orFine(
    fine("settings", "The settings are consistent."),
    isInTheClear(config) &&
      warning(
        "settings",
        `HOST is ${host}: other machines can connect without TLS, and keys cross the network unencrypted.`,
        "Set TLS_CERT and TLS_KEY, or HOST=127.0.0.1 behind a proxy.",
      ),
    baseUrl === null &&
      (trustProxy || !isLoopback(host)) &&
      warning(
        "settings",
        `BASE_URL is not set: links in responses point to ${publicOrigin(config)}.`,
        "Set BASE_URL to the public address, such as https://www.example.com.",
      ),
    baseUrl !== null &&
      /(?:^|\.)example\.(?:com|net|org)$/.test(new URL(baseUrl).hostname) &&
      warning(
        "settings",
        `BASE_URL is ${baseUrl}, which is an example.`,
        "Set it to the public address of this server.",
      ),
    baseUrl?.startsWith("http:") &&
      !isLoopback(new URL(baseUrl).hostname) &&
      warning(
        "settings",
        `BASE_URL is ${baseUrl}: clients are told to send their keys unencrypted.`,
        "Set it to an https address.",
      ),
  );
}

function checkCertificate(pem: string, baseUrl: string | null, nowMs: number): Finding[] {
  const certificate = new X509Certificate(pem);
  const [fromMs, toMs] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const day = dayOf(toMs);
  const renew = "Renew it, and restart the server: it reads the certificate only at start.";
  const name = baseUrl === null ? null : new URL(baseUrl).hostname;
  const isFor = (host: string) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host));
  return orFine(
    fine("tls", `The certificate is valid until ${day}.`),
    toMs <= nowMs && broken("tls", `The certificate in TLS_CERT expired on ${day}.`, renew),
    fromMs > nowMs && broken("tls", "The certificate in TLS_CERT is not valid yet.", "Check the clock (timedatectl)."),
    toMs > nowMs &&
      fromMs <= nowMs &&
      toMs - nowMs < expiryDays * dayMs &&
      warning("tls", `The certificate in TLS_CERT expires on ${day}.`, renew),
    name !== null &&
      isFor(name) === undefined &&
      broken(
        "tls",
        `The certificate in TLS_CERT is not for ${name}, the name in BASE_URL.`,
        "Get a certificate for that name, or correct BASE_URL.",
      ),
  );
}
