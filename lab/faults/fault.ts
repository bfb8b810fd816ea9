/** The definition of an attack: what it does, how often, its promise, and the broken builds that it must detect. */

import type { Random } from "../random.ts";
import type { Patch } from "./breaking/build.ts";

/** One repetition of an attack. */
export interface Turn {
  /** Counts from 0. */
  readonly number: number;
  /** An empty folder, which is removed after the turn. */
  readonly place: string;
  readonly random: Random;
}

export interface Attack {
  /** The folder of the build that is attacked: the project itself, or a broken copy of it. */
  readonly build: string;
  /** What is broken in that build; null for the project itself. */
  readonly breakage: Breakage | null;
  /** An empty folder for its files. */
  readonly folder: string;
  /** The path of its database, which does not exist yet. */
  readonly file: string;
  readonly times: number;
  readonly random: Random;
  /** Yields turns until all are done or the time is up. */
  turns(): Iterable<Turn>;
  /** Returns true while there is time for another turn. */
  goesOn(): boolean;
  /** Reports the number of turns done so far. */
  progress(done: number): void;
  /** The violations of the promise that were observed. */
  readonly broken: readonly string[];
  /** Adds a violation if a condition is false. Only the first few are kept. */
  expect(holds: boolean, otherwise: () => string): void;
}

/** Measurements for the report, by their names. */
export type Figures = Readonly<Record<string, number | string>>;

export interface Outcome {
  readonly done: number;
  readonly broken: readonly string[];
  readonly figures: Figures;
}

/** A deliberate defect of the product, which the attack has to detect. */
export interface Breakage {
  readonly name: string;
  /** The number of turns that detects it; by default, that of the small run. */
  readonly times?: number;
  /** Set if detection takes more than 10 s. Then only `bun run faults --broken` tries it, and not the small run. */
  readonly isSlow?: true;
  readonly patches: readonly Patch[];
}

/** Describes a build with one broken line. */
export function broken(
  name: string,
  file: string,
  from: string,
  to: string,
  options: Pick<Breakage, "times" | "isSlow"> = {},
): Breakage {
  return { name, patches: [{ file, from, to }], ...options };
}

export interface Fault {
  readonly name: string;
  /** A short description. Its last word is the unit of `times`. */
  readonly attack: string;
  /** The promise that must hold afterwards. */
  readonly promise: string;
  /** The number of turns in the small run, which is part of CI, and in the full run. */
  readonly small: number;
  readonly full: number;
  readonly breakages: readonly Breakage[];
  /** True if it mostly waits, so that several can run concurrently. */
  readonly waits?: boolean;
  /** Returns the reason why it cannot run on this machine; null if it can. */
  missing?(): string | null;
  run(attack: Attack): Promise<Figures>;
}
