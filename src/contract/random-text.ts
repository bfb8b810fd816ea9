/** Random text for keys and IDs, which nobody can guess. */
import { randomInt } from "node:crypto";

export const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns base62 characters from a cryptographic source, each as likely as any other. */
export function randomText(length: number): string {
  return Array.from({ length }, () => base62[randomInt(base62.length)]).join("");
}
