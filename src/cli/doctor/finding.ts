/** The findings of the doctor: something is fine, worth a warning, or broken. */
import type { Config } from "../../config.ts";
import type { Contents } from "../../db/examine.ts";
import type { UserError } from "../../runtime/user-error.ts";

/** The input of a check. */
export interface Examined {
  /** The database file. */
  readonly path: string;
  /** A UserError if the file cannot be read. */
  readonly contents: Contents | UserError;
  /** Null if a setting is wrong. */
  readonly config: Config | null;
  /** Everything that is wrong with the settings. */
  readonly faults: readonly UserError[];
  /** Also compares every index with its table. */
  readonly full: boolean;
  readonly nowMs: number;
}

export interface Finding {
  readonly level: "fine" | "warning" | "broken";
  /** The part that was checked, in one word. */
  readonly thing: string;
  /** The finding in a sentence. */
  readonly what: string;
  /** The advice; empty if all is well. */
  readonly advice: string;
  /** True if the finding is about the data or the cluster, so that each server of a cluster reports it. */
  readonly isShared?: true;
}

const findingOf =
  (level: Finding["level"]) =>
  (thing: string, what: string, advice: string): Finding => ({ level, thing, what, advice });

export const fine = (thing: string, what: string): Finding => findingOf("fine")(thing, what, "");
/** A finding that needs attention, with its advice. */
export const warning = findingOf("warning");
/** A finding with which the server cannot work, or loses data. */
export const broken = findingOf("broken");

/** Marks findings that each server of a cluster reports. */
export function shared(findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, isShared: true }));
}

type Found = Finding | false | null | undefined;

/** Returns the findings whose conditions hold. */
export function onlyFound(...found: readonly Found[]): Finding[] {
  return found.filter((finding) => typeof finding === "object" && finding !== null);
}

/** Returns the findings whose conditions hold; if none does, the finding that all is well. */
export function orFine(otherwise: Finding, ...found: readonly Found[]): Finding[] {
  const findings = onlyFound(...found);
  return findings.length > 0 ? findings : [otherwise];
}
