/** The result of an attack as text. */
import type { Outcome } from "./fault.ts";

export interface Result extends Outcome {
  readonly name: string;
  readonly attack: string;
  readonly promise: string;
  readonly seconds: number;
  /** The reason why it did not run. */
  readonly skipped: string | null;
}

/** Several lines, the first of them empty. */
export function report({ name, attack, promise, done, broken, figures, skipped, seconds }: Result): string {
  const measured = Object.entries(figures).map(([what, value]) => `${what} ${value}`);
  const lines = skipped === null ? [`${done} times in ${seconds} s`, ...measured] : [`not run: ${skipped}`];
  const verdict = skipped !== null ? "–" : broken.length === 0 ? "held" : "BROKEN";
  return `\n${name}: ${verdict}\n  ${attack}\n  ${promise}\n  ${lines.join("; ")}\n${broken.map((what) => `  ! ${what}\n`).join("")}`;
}
