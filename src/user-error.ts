/** An error that is said to a person in one line, and ends the process with a status. */
import { withoutKeys } from "./contract/new-key.ts";
import type { EndingSignal, statusAfter } from "./operator/ending-signals.ts";
import { printable } from "./operator/printable.ts";

/** 1: it is refused or has failed. 2: the command or a setting is written wrong. Else a signal has ended it. */
type UserErrorStatus = 1 | 2 | (typeof statusAfter)[EndingSignal];

/** Says what is wrong and what to do next. It is shown without a stack trace. */
export class UserError extends Error {
  override readonly name = "UserError";

  constructor(
    message: string,
    readonly advice: string,
    readonly status: UserErrorStatus = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** What is shown: what is wrong, then what to do. */
  get sentence(): string {
    return inOneLine(`${this.message} ${this.advice}`.trim());
  }
}

/** A text in one line, for a terminal. An API key in it is cut to its first characters. */
export function inOneLine(text: string): string {
  return printable(withoutKeys(text).replaceAll(/\s*\n\s*/g, " "));
}
