/** A finding of the doctor: something is fine, worth a warning, or broken. */

export type Level = "fine" | "warning" | "broken";

export interface Finding {
  readonly level: Level;
  /** What was looked at, in one word. */
  readonly thing: string;
  /** What was found, in a sentence. */
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
