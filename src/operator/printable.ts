/** Text of others, made safe for a terminal. */

/** A text with a ? for each control character, which a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}
