/** What others wrote, as a terminal may show it. */

/** A text without characters that a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}
