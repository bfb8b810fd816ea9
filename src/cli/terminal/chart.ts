/** Bars for a terminal: a label, a bar, a number, in lines of 80 columns. */
import { printable } from "../../operator/printable.ts";
import { grouped } from "./numbers.ts";

export interface Bar {
  readonly label: string;
  readonly count: number;
}

const width = 80;
const mostLabel = 24;
/** A bar grows by eighths of a character. */
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** One line for each bar. The longest fills the width; a count above 0 shows at least a sliver. */
export function chart(bars: readonly Bar[]): string {
  const labels = bars.map(({ label }) => shorten(printable(label)));
  const numbers = bars.map(({ count }) => grouped(count));
  const labelWidth = Math.max(...labels.map((label) => Bun.stringWidth(label)));
  const numberWidth = Math.max(...numbers.map((number) => number.length));
  const room = width - labelWidth - numberWidth - 4;
  const most = Math.max(...bars.map(({ count }) => count), 1);
  const lines = bars.map(({ count }, place) => {
    const label = labels[place] ?? "";
    const pad = " ".repeat(labelWidth - Bun.stringWidth(label));
    return `${label}${pad}  ${(numbers[place] ?? "").padStart(numberWidth)}  ${bar((count / most) * room)}`.trimEnd();
  });
  return lines.join("\n");
}

function bar(length: number): string {
  if (length === 0) return "";
  const parts = Math.max(1, Math.round(length * 8));
  return "█".repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? "");
}

function shorten(label: string): string {
  if (Bun.stringWidth(label) <= mostLabel) return label;
  let kept = "";
  for (const character of label) {
    if (Bun.stringWidth(kept + character) >= mostLabel) break;
    kept += character;
  }
  return `${kept}…`;
}
