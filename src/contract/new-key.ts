/** New keys (§5), and the prefix by which people recognize a key. */
import { checksum, type Marker } from "./key.ts";
import { randomText } from "./random-text.ts";

const secretLength = 32;

/** How many characters of a key are stored and shown. */
const prefixLength = 8;

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
