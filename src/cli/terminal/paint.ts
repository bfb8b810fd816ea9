/** Colours: on a terminal alone, and never where NO_COLOR is set. */
import { styleText } from "node:util";

type Style = "bold" | "green" | "red" | "yellow";

/** A text in a style, where the stream is a terminal. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  // styleText itself obeys NO_COLOR.
  return stream.isTTY ? styleText(style, text, { stream }) : text;
}

const styleOfWord: Readonly<Record<string, Style>> = {
  active: "green",
  inactive: "red",
  revoked: "red",
  warning: "yellow",
  broken: "red",
};

/** A cell of a table. A word for a state has a colour. */
export function paintCell(text: string): string {
  const style = styleOfWord[text.trim()];
  return style === undefined ? text : paint(style, text);
}
