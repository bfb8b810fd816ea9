/** The id of a lead (decisions on what a lead is): kept, derived from the source's, or made from what the row says. */
import { createHash } from "node:crypto";
import type { DetailField, LeadDetails } from "../contract/lead.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A source's own id: a UUID is kept in lower case, any other text becomes one by its SHA-256. */
export function idFromSource(text: string): string {
  const lower = text.toLowerCase();
  return uuid.test(lower) ? lower : writeUuid(sha256(text));
}

/**
 * The id of a row that has none: the source's time and a hash over account, pixel and fields, so that the same file
 * again changes nothing and new ids land at the end of their index.
 */
export function idFromContent(
  account: string,
  pixelId: string,
  details: LeadDetails,
  fields: readonly DetailField[],
  sourceMs: number | null,
): string {
  const hash = sha256(JSON.stringify([account, pixelId, ...fields.map((field) => details[field])]));
  // 48 bits of milliseconds in front; a time before 1970 has no place there.
  hash.writeUIntBE(Math.max(0, sourceMs ?? 0), 0, 6);
  return writeUuid(hash);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Writes the first 16 bytes as a UUID of version 8 (RFC 9562). */
function writeUuid(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex", 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
