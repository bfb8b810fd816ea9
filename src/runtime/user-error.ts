/** Errors for the user, printed in one line, and untrusted text made safe for a terminal. */
import { withoutKeys } from "../contract/key.ts";

/** 1: refused or failed. 2: a command or a setting is wrong. The others: ended by a signal, as a shell says it. */
type UserErrorStatus = 1 | 2 | 129 | 130 | 143;

/** An error with what is wrong and what to do next. It is printed without a stack trace. */
export class UserError extends Error {
  override readonly name: string = "UserError";

  constructor(
    message: string,
    readonly advice: string,
    readonly status: UserErrorStatus = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** The printed line: what is wrong, then what to do. */
  get sentence(): string {
    return inOneLine(`${this.message} ${this.advice}`.trim());
  }
}

/** Returns a text in one line, for a terminal. An API key in it is cut to its first characters. */
export function inOneLine(text: string): string {
  return printable(withoutKeys(text).replaceAll(/\s*\n\s*/g, " "));
}

/** Returns a text with a ? for each control character, which a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}

/** Returns equivalent JSON with an escape for each control character, which a terminal would obey. */
export function inEscapes(json: string): string {
  return json.replaceAll(/(?!\n)[\p{Cc}\p{Cf}]/gu, (letter) => letter.split("").map(escapeOf).join(""));
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
