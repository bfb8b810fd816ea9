/** The settings: whether each is right, and whether they go together. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Config } from "../../config.ts";
import { isInTheClear, isLoopback, publicOrigin } from "../../config.ts";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { UserError } from "../../user-error.ts";
import { broken, type Finding, fine, warning } from "./finding.ts";

/** Certificates of 90 days are renewed a month before they end. With less than this left, renewing has failed. */
const expiryDays = 21;

export function lookAtSettings(faults: readonly UserError[], config: Config | null, nowMs: number): Finding[] {
  const wrong = faults.map(({ message }) =>
    broken("settings", message, "Mend it where the settings are; the server does not start like this."),
  );
  if (config === null) return wrong;
  const exposed = lookAtExposure(config);
  const together = exposed.length > 0 ? exposed : [fine("settings", "The settings go together.")];
  return [...together, ...lookAtLedger(config), ...lookAtTls(config, nowMs)];
}

function lookAtLedger({ disclosures }: Config): Finding[] {
  const what = "DISCLOSURES is off: nobody can say which key received which leads from now on.";
  return disclosures ? [] : [fine("settings", what)];
}

function lookAtExposure(config: Config): Finding[] {
  const { host, trustProxy, baseUrl } = config;
  const findings: Finding[] = [];
  if (isInTheClear(config)) {
    const what = `HOST is ${host}, which other machines can reach, without TLS: keys cross the network in the clear.`;
    findings.push(warning("settings", what, "Set TLS_CERT and TLS_KEY, or HOST=127.0.0.1 behind a proxy."));
  }
  if (baseUrl === null && (trustProxy || !isLoopback(host))) {
    const what = `BASE_URL is not set: links in answers lead to ${publicOrigin(config)}.`;
    findings.push(warning("settings", what, "Set BASE_URL to the public address, such as https://www.example.com."));
  }
  if (baseUrl?.startsWith("http:") && !isLoopback(new URL(baseUrl).hostname)) {
    const what = `BASE_URL is ${baseUrl}: clients are told to send their keys in the clear.`;
    findings.push(warning("settings", what, "Set it to an https address."));
  }
  return findings;
}

function lookAtTls({ tls, baseUrl }: Config, nowMs: number): Finding[] {
  if (tls === null) return [];
  const certificate = new X509Certificate(tls.cert);
  const [fromMs, toMs] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const day = dayOf(toMs);
  const renew = "Renew it, and restart the server: it keeps the certificate that it started with.";
  const findings: Finding[] = [];
  if (toMs <= nowMs) findings.push(broken("tls", `The certificate in TLS_CERT ended on ${day}.`, renew));
  else if (fromMs > nowMs) {
    findings.push(broken("tls", "The certificate in TLS_CERT is not valid yet.", "Check the clock (timedatectl)."));
  } else if (toMs - nowMs < expiryDays * dayMs) {
    findings.push(warning("tls", `The certificate in TLS_CERT ends on ${day}.`, renew));
  }
  const name = baseUrl === null ? null : new URL(baseUrl).hostname;
  if (name !== null && (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) === undefined) {
    const what = `The certificate in TLS_CERT is not for ${name}, the name in BASE_URL.`;
    findings.push(broken("tls", what, "Get one that has the name, or mend BASE_URL."));
  }
  return findings.length > 0 ? findings : [fine("tls", `The certificate is good until ${day}.`)];
}
