/** Bars for a terminal: a label, a number, a bar, in lines of 80 columns or less. */
import { printable } from "../../user-error.ts";
import { grouped } from "./numbers.ts";
import { columnsOf } from "./table.ts";

export interface Bar {
  readonly label: string;
  readonly count: number;
  /** Many things together. They get no bar: beside it, those of single things would be too short to compare. */
  readonly isSum?: true;
}

const mostWidth = 80;
/** A date fits. */
const leastLabel = 10;
/** A bar grows by eighths of a character. */
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** One line for each bar. The longest fills the width; a count above 0 shows at least a sliver. */
export function chart(
  bars: readonly Bar[],
  width: number = Math.min(columnsOf(process.stdout) ?? mostWidth, mostWidth),
): string {
  const mostLabel = Math.max(leastLabel, Math.floor(width * 0.3));
  const labels = bars.map(({ label }) => shorten(printable(label), mostLabel));
  const numbers = bars.map(({ count }) => grouped(count));
  const labelWidth = Math.max(...labels.map((label) => Bun.stringWidth(label)));
  const numberWidth = Math.max(...numbers.map((number) => number.length));
  const room = Math.max(1, width - labelWidth - numberWidth - 4);
  const most = Math.max(...bars.map(({ count, isSum }) => (isSum ? 0 : count)), 1);
  const lines = bars.map(({ count, isSum }, place) => {
    const label = labels[place] ?? "";
    const pad = " ".repeat(labelWidth - Bun.stringWidth(label));
    return `${label}${pad}  ${(numbers[place] ?? "").padStart(numberWidth)}  ${isSum ? "" : bar((count / most) * room)}`.trimEnd();
  });
  return lines.join("\n");
}

function bar(length: number): string {
  if (length === 0) return "";
  const parts = Math.max(1, Math.round(length * 8));
  return "█".repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? "");
}

/** A label, cut to some columns. A wide character takes two. */
export function shorten(label: string, most: number): string {
  if (Bun.stringWidth(label) <= most) return label;
  let kept = "";
  for (const character of label) {
    if (Bun.stringWidth(kept + character) >= most) break;
    kept += character;
  }
  return `${kept}…`;
}
