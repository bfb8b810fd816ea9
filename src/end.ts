/** How a process ends that cannot go on: one line on standard error, and the status of the refusal. */

import { withoutKeys } from "./contract/key.ts";
import { inOwnWords } from "./own-words.ts";
import { Refusal } from "./refusal.ts";

/** Ends the process. A mistake of ours shows its name and place, and never the values that it met. */
export function endWith(cause: unknown): never {
  const line =
    cause instanceof Refusal
      ? cause.sentence
      : `Leadfile failed: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : "unknown error"}`;
  process.stderr.write(`${inOwnWords(withoutKeys(line.replaceAll(/\s*\n\s*/g, " ")))}\n`);
  process.exit(cause instanceof Refusal ? cause.status : 1);
}
