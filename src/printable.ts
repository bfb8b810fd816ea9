/** Text of others, made safe for a terminal. */

/** A text with a ? for each control character, which a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}

/** JSON in lines that means the same, with \u and a number for each character that a terminal would obey. */
export function inEscapes(json: string): string {
  return json.replaceAll(/(?!\n)[\p{Cc}\p{Cf}]/gu, (letter) => letter.split("").map(escapeOf).join(""));
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
