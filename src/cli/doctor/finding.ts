/** What one look at one thing came to. */

export type Level = "fine" | "warning" | "broken";

export interface Finding {
  readonly level: Level;
  /** The thing that was looked at, in a word. */
  readonly thing: string;
  /** What is so, in a sentence. */
  readonly what: string;
  /** What to do about it; empty where all is well. */
  readonly advice: string;
}

export const fine = (thing: string, what: string): Finding => ({ level: "fine", thing, what, advice: "" });

export const warning = (thing: string, what: string, advice: string): Finding => ({
  level: "warning",
  thing,
  what,
  advice,
});

export const broken = (thing: string, what: string, advice: string): Finding => ({
  level: "broken",
  thing,
  what,
  advice,
});

/** A number of bytes as people say it: 1.2 GB. */
export function inBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const amount = bytes / 1000 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}
