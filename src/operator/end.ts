/** How a process ends that cannot go on: one line on standard error, and the status of the refusal. */
import { explain } from "./explain.ts";
import { inOneLine, UserError } from "./user-error.ts";

/** Ends the process. A mistake of ours shows its name and place, and never the values that it met. */
export function endWith(cause: unknown): never {
  const told = explain(cause);
  const said = told instanceof Error ? `${told.name}: ${told.message}` : "unknown error";
  const line = told instanceof UserError ? told.sentence : inOneLine(`Leadfile failed: ${said}`);
  process.stderr.write(`${line}\n`);
  process.exit(told instanceof UserError ? told.status : 1);
}
