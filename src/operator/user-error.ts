/** What stops a command or the start of the server: one line for a person, and the status with which it ends. */
import { withoutKeys } from "../contract/key.ts";

/** 1: something is not as it must be. 2: the command or a setting was written wrong. 130: Ctrl-C. */
export type UserErrorStatus = 1 | 2 | 130;

/** A refusal says what is wrong and what to do next; it is shown as one line, without a stack trace. */
export class UserError extends Error {
  override readonly name = "UserError";

  constructor(
    message: string,
    readonly advice: string,
    readonly status: UserErrorStatus = 1,
  ) {
    super(message);
  }

  /** What is shown: what is wrong, then what to do. */
  get sentence(): string {
    return inOneLine(`${this.message} ${this.advice}`.trim());
  }
}

/** A text in one line. A key that stands in the wrong place is cut. */
export function inOneLine(text: string): string {
  return withoutKeys(text).replaceAll(/\s*\n\s*/g, " ");
}
