/**
 * API keys (§5): `lf_`, 32 characters of base62, and 6 more that are the CRC-32 of all before them, so that a typing
 * error and a secret scanner need no database. Only the SHA-256 of a key is ever stored. The token with which a vendor
 * delivers has the same form and begins with `lfin_`.
 */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62 } from "./random-text.ts";

/** What a secret begins with: a key that reads leads, or the token of a source, which brings them. */
export type Marker = "lf_" | "lfin_";
const checksumLength = 6;
const shape = /^lf(?:in)?_[0-9A-Za-z]{38}$/;

/** Whether a text can be a key at all: right in length, letters and checksum. */
export function isWellFormed(key: string, marker: Marker = "lf_"): boolean {
  return (
    key.startsWith(marker) && shape.test(key) && key.slice(-checksumLength) === checksum(key.slice(0, -checksumLength))
  );
}

/** How long a key lives (§5). */
export interface KeyLife {
  /** When it was revoked; null where it was not. */
  readonly revokedMs: number | null;
  /** When it expires; null where it never does. */
  readonly expiresMs: number | null;
}

/** Whether a key is neither revoked nor expired at a moment; one that has expired counts as revoked. */
export function isActive({ revokedMs, expiresMs }: KeyLife, nowMs: number): boolean {
  return revokedMs === null && (expiresMs === null || nowMs < expiresMs);
}

/** What is stored of a key: the 32 bytes of its SHA-256. */
export function digestOf(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** The last characters of a key, from all before them. */
export function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let place = 0; place < checksumLength; place++) {
    text = base62.charAt(rest % base62.length) + text;
    rest = Math.floor(rest / base62.length);
  }
  return text;
}
