/** Colours: on a terminal alone, and never where NO_COLOR is set. */
import { styleText } from "node:util";

export type Style = "bold" | "dim" | "green" | "red" | "yellow";

/** A text in a style for what reads a stream; as it is where that is no terminal. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  // The function itself looks at NO_COLOR and at what the terminal can do.
  return stream.isTTY ? styleText(style, text, { stream }) : text;
}

const styleOfWord: Readonly<Record<string, Style>> = { active: "green", inactive: "red", revoked: "red" };

/** A cell of a table; the words for what works and what does not have a colour. */
export function paintCell(text: string): string {
  const style = styleOfWord[text.trim()];
  return style === undefined ? text : paint(style, text);
}
