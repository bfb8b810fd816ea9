/** One way to attack a promise: how it is done, how often, and with which broken build it is seen to fail. */

import type { Random } from "../random.ts";
import type { Patch } from "./breaking/build.ts";

export interface Attack {
  /** The folder of the build that is attacked: the project itself, or a broken copy of it. */
  readonly build: string;
  /** An empty folder for its files. */
  readonly folder: string;
  readonly times: number;
  readonly random: Random;
  /** Returns whether there is time for another one. */
  goesOn(): boolean;
  /** Is called with the number that is done. */
  progress(done: number): void;
}

export interface Outcome {
  readonly done: number;
  /** Observations that break the promise. */
  readonly broken: readonly string[];
  /** Measurements. */
  readonly figures: Readonly<Record<string, number | string>>;
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
  run(attack: Attack): Promise<Outcome>;
}

export interface Findings {
  readonly broken: readonly string[];
  /** Adds an observation if a condition is false. */
  expect(holds: boolean, otherwise: () => string): void;
}

/** Collects observations, of which the first few are enough. */
export function createFindings(max = 20): Findings {
  const broken: string[] = [];
  return {
    broken,
    expect(holds, otherwise) {
      if (!holds && broken.length < max) broken.push(otherwise());
    },
  };
}
