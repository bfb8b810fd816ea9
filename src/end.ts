/** How a process ends that cannot go on: one line on standard error, and the status of the refusal. */

import { inOneLine, UserError } from "./operator/user-error.ts";
import { inOwnWords } from "./program-name.ts";

/** Ends the process. A mistake of ours shows its name and place, and never the values that it met. */
export function endWith(cause: unknown): never {
  const said = cause instanceof Error ? `${cause.name}: ${cause.message}` : "unknown error";
  const line = cause instanceof UserError ? cause.sentence : inOneLine(`Leadfile failed: ${said}`);
  process.stderr.write(`${inOwnWords(line)}\n`);
  process.exit(cause instanceof UserError ? cause.status : 1);
}
