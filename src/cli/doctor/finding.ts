/** A finding of the doctor: something is fine, worth a warning, or broken. */
import type { Config } from "../../config.ts";
import type { Examination } from "../../db/examination/examine.ts";

/** What the doctor knows before it looks further. */
export interface Examined {
  /** The database file. */
  readonly path: string;
  readonly examination: Examination;
  /** Null if a setting is wrong. */
  readonly config: Config | null;
  readonly nowMs: number;
}

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
