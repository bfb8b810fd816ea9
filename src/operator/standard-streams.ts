/** Standard output and standard error, for what must be written before the process goes on, or ends. */
import { writeSync } from "node:fs";
import { systemCode } from "./system-code.ts";

/**
 * Writes all of a text to standard output (1) or standard error (2) before it returns, so that the end of the process
 * loses nothing. Gives the code of an error.
 */
export function writeNow(stream: 1 | 2, text: string): string | null {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(stream, bytes, done);
    } catch (cause) {
      const code = systemCode(cause) ?? "unknown";
      if (code !== "EAGAIN") return code;
      // The pipe is full; its reader needs a moment.
      Bun.sleepSync(1);
    }
  }
  return null;
}
