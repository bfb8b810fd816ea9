/** The signature of a delivery, which shows that its sender knows the secret of the source. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { SourceSignature } from "../../../src/db/sources.ts";
import { DeliveryRefused } from "./refusal.ts";

/** The header of a source whose vendor documents no other one. */
export const defaultSignatureHeader = "X-Signature";

/** The age of a signed time, as Standard Webhooks recommend it: an older delivery may be a repeated one. */
const maxAgeSeconds = 5 * 60;

/**
 * Throws a DeliveryRefused unless a body is signed with the secret: by its HMAC-SHA256 in the header of the source, in hex or
 * base64, or by the three headers of Standard Webhooks (https://www.standardwebhooks.com).
 */
export function checkSignature(signature: SourceSignature, headers: Headers, body: Uint8Array, nowMs: number): void {
  const { secret, header } = signature;
  const ofStandard = headers.get("webhook-signature");
  if (ofStandard === null) checkHeader(secret, header, headers.get(header), body);
  else checkStandard(secret, ofStandard, headers, body, nowMs);
}

function checkHeader(secret: string, header: string, given: string | null, body: Uint8Array): void {
  if (given === null) throw refusal(`The header ${header} is missing: this source accepts only signed deliveries.`);
  const expected = createHmac("sha256", secret).update(body).digest();
  const text = given.trim().replace(/^sha256=/i, "");
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? "hex" : "base64");
  if (!isEqual(bytes, expected)) throw refusal(`The signature in ${header} does not match this body and secret.`);
}

function checkStandard(secret: string, given: string, headers: Headers, body: Uint8Array, nowMs: number): void {
  const id = headers.get("webhook-id") ?? "";
  const timestamp = headers.get("webhook-timestamp") ?? "";
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs / 1000 - Number(timestamp)) > maxAgeSeconds) {
    throw refusal("The webhook-timestamp is not within five minutes of the clock; check the clocks on both sides.");
  }
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : secret;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // While a secret is replaced, a delivery has the signatures of both.
  const signatures = given.split(" ").filter((one) => one.startsWith("v1,"));
  if (signatures.some((one) => isEqual(Buffer.from(one.slice("v1,".length), "base64"), expected))) return;
  throw refusal("The webhook-signature does not match this body and secret.");
}

function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function refusal(why: string): DeliveryRefused {
  return new DeliveryRefused("invalid_signature", why);
}
