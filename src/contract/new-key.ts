/** A new key (§5), and what people see of it once it was shown: its first characters. */
import { checksum, type Marker } from "./key.ts";
import { randomText } from "./random-text.ts";

const secretLength = 32;

/** How much of a key is kept and shown to tell it from others. */
const prefixLength = 8;

/** A new key from a cryptographic source; shown once, then only its digest is known. */
export function createKey(marker: Marker = "lf_"): string {
  const body = marker + randomText(secretLength);
  return body + checksum(body);
}

/** The beginning of a key, enough for people to tell theirs apart. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength);
}

/** A text in which keys that somebody put there by mistake are cut to what may be shown of them. */
export function withoutKeys(text: string): string {
  return text.replaceAll(/lf(?:in)?_[0-9A-Za-z]{9,}/g, (key) => `${prefixOf(key)}…`);
}
