/** Text that nobody can guess, of which keys and ids are made. */
import { randomInt } from "node:crypto";

export const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Text of some base62 characters from a cryptographic source, each as likely as any other. */
export function randomText(length: number): string {
  return Array.from({ length }, () => base62[randomInt(base62.length)]).join("");
}
