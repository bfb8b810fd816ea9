/**
 * API keys (§5): `lf_`, 32 characters of base62, and 6 more that are the CRC-32 of everything before them. A typing error
 * can be detected, and a secret scanner can recognize a key, without a database. Only the SHA-256 of a key is stored. The
 * write token of a source has the same form and begins with `lfin_`.
 */
import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The beginning of a secret: of a key, which reads leads, or of the write token of a source. */
type Marker = "lf_" | "lfin_";
const secretLength = 32;
const checksumLength = 6;
/** The number of characters of a key that are stored and shown. */
const prefixLength = 8;
const shape = /^lf(?:in)?_[0-9A-Za-z]{38}$/;

/** Returns whether a text can be a key: its length, characters, and checksum are right. */
export function isWellFormed(key: string, marker: Marker = "lf_"): boolean {
  return (
    key.startsWith(marker) && shape.test(key) && key.slice(-checksumLength) === checksum(key.slice(0, -checksumLength))
  );
}

/** The time at which a key ends (§5). */
interface KeyLife {
  /** The time at which it was revoked; null if it was not. */
  readonly revokedMs: number | null;
  /** The time at which it expires; null if it never does. */
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
  for (let index = 0; index < checksumLength; index++) {
    text = base62.charAt(rest % base62.length) + text;
    rest = Math.floor(rest / base62.length);
  }
  return text;
}

/** Returns a new key from a cryptographic source. It is shown once; only its digest is stored. */
export function createKey(marker: Marker = "lf_"): string {
  const body = marker + randomText(secretLength);
  return body + checksum(body);
}

/** Returns the first characters of a key, by which people recognize theirs. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength);
}

/** Returns a text with every key in it cut to its prefix. Somebody may have put a key there by mistake. */
export function withoutKeys(text: string): string {
  return text.replaceAll(/lf(?:in)?_[0-9A-Za-z]{9,}/g, (key) => `${prefixOf(key)}…`);
}

/** Returns base62 characters from a cryptographic source, each as likely as any other. */
export function randomText(length: number): string {
  return Array.from({ length }, () => base62[randomInt(base62.length)]).join("");
}
