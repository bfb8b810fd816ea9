/** One way to attack a promise: how it is done, how often, and with which broken build it is seen to fail. */

import type { Random } from "../random.ts";
import type { Patch } from "./breaking/build.ts";

/** One of the times that an attack is repeated. */
export interface Turn {
  /** They are counted from 0. */
  readonly number: number;
  /** An empty folder, which is removed after the turn. */
  readonly place: string;
  readonly random: Random;
}

export interface Attack {
  /** The folder of the build that is attacked: the project itself, or a broken copy of it. */
  readonly build: string;
  /** What is broken in it. */
  readonly breakage: Breakage | null;
  /** An empty folder for its files. */
  readonly folder: string;
  /** The path of its database, which is not there yet. */
  readonly file: string;
  readonly times: number;
  readonly random: Random;
  /** The turns of an attack that is simply repeated, as long as there is time. */
  turns(): Iterable<Turn>;
  /** Returns whether there is time for another one. */
  goesOn(): boolean;
  /** Is called with the number that is done, the last time at the end. */
  progress(done: number): void;
  /** Observations that break the promise. */
  readonly broken: readonly string[];
  /** Adds an observation if a condition is false. The first few are enough. */
  expect(holds: boolean, otherwise: () => string): void;
}

/** Measurements. */
export type Figures = Readonly<Record<string, number | string>>;

export interface Outcome {
  readonly done: number;
  readonly broken: readonly string[];
  readonly figures: Figures;
}

/** Lines of the product as they must not be: the attack has to notice. */
export interface Breakage {
  readonly name: string;
  /** The number of times that is enough to notice it; by default, that of the suite. */
  readonly times?: number;
  /** Set if it takes more than 10 s to notice. Only `bun run faults --broken` tries it then, and not the suite. */
  readonly isSlow?: true;
  readonly patches: readonly Patch[];
}

/** A build with one broken line. */
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
  /** The attack in a few words. The last one is the unit of `times`. */
  readonly attack: string;
  /** The promise that must be true afterwards. */
  readonly promise: string;
  /** The number of times in the suite, and in the full run. */
  readonly small: number;
  readonly full: number;
  readonly breakages: readonly Breakage[];
  /** True if it mostly waits, so that several can run at once. */
  readonly waits?: boolean;
  /** Returns why it cannot run on this machine; null if it can. */
  missing?(): string | null;
  run(attack: Attack): Promise<Figures>;
}
