/**
 * API keys (§5): `lf_`, 32 characters of base62, and 6 more that are the CRC-32 of everything before them. A typing error
 * can be detected, and a secret scanner can recognize a key, without a database. Only the SHA-256 of a key is stored. The
 * write token of a source has the same form and begins with `lfin_`.
 */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62 } from "./random-text.ts";

/** The beginning of a secret: of a key, which reads leads, or of the write token of a source. */
export type Marker = "lf_" | "lfin_";
const checksumLength = 6;
const shape = /^lf(?:in)?_[0-9A-Za-z]{38}$/;

/** Returns whether a text can be a key: its length, characters, and checksum are right. */
export function isWellFormed(key: string, marker: Marker = "lf_"): boolean {
  return (
    key.startsWith(marker) && shape.test(key) && key.slice(-checksumLength) === checksum(key.slice(0, -checksumLength))
  );
}

/** When a key ends (§5). */
export interface KeyLife {
  /** When it was revoked; null if it was not. */
  readonly revokedMs: number | null;
  /** When it expires; null if it never does. */
  readonly expiresMs: number | null;
}

/** Returns whether a key is neither revoked nor expired. An expired key counts as revoked. */
export function isActive({ revokedMs, expiresMs }: KeyLife, nowMs: number): boolean {
  return revokedMs === null && (expiresMs === null || nowMs < expiresMs);
}

/** Returns what is stored of a key: the 32 bytes of its SHA-256. */
export function digestOf(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** Returns the last characters of a key, calculated from all before them. */
export function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let place = 0; place < checksumLength; place++) {
    text = base62.charAt(rest % base62.length) + text;
    rest = Math.floor(rest / base62.length);
  }
  return text;
}
