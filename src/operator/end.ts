/** Ends a process that cannot go on: one line on standard error, and its status. */

import { inOneLine, UserError } from "../user-error.ts";
import { explain } from "./explain.ts";
import { writeNow } from "./standard-streams.ts";

/** Ends the process, once it was said why. */
export function endWith(cause: unknown): never {
  process.exit(sayWhy(cause));
}

/** Says why the program cannot go on, and returns its status. A mistake of ours shows its message, and no stack trace. */
export function sayWhy(cause: unknown): number {
  const told = explain(cause);
  const said = told instanceof Error ? `${told.name}: ${told.message}` : "unknown error";
  const line = told instanceof UserError ? told.sentence : inOneLine(`Leadfile failed: ${said}`);
  writeNow(2, `${line}\n`);
  return told instanceof UserError ? told.status : 1;
}
