/** One way to attack a promise: how it is done, how often, and with which broken build it is seen to fail. */
import type { Patch } from "./breaking/build.ts";
import type { Random } from "./random.ts";

export interface Attack {
  /** The folder of the build that is attacked: the project itself, or a broken copy of it. */
  readonly build: string;
  /** An empty folder for its files. */
  readonly folder: string;
  readonly times: number;
  readonly random: Random;
  /** Whether there is time for more; what was done until then counts. */
  goesOn(): boolean;
  /** Hears how many times are done. */
  progress(done: number): void;
}

export interface Outcome {
  readonly done: number;
  /** What was seen that must not be; nothing where the promise held. */
  readonly broken: readonly string[];
  /** What was measured beside it. */
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
  /** What is done, in a few words; `times` is counted in the last of them. */
  readonly attack: string;
  /** What must be true afterwards. */
  readonly held: string;
  /** How many times in the suite, and how many in the full run. */
  readonly small: number;
  readonly full: number;
  readonly breakages: readonly Breakage[];
  /** Whether it mostly waits, so that several can run at once. */
  readonly waits?: boolean;
  /** Why it cannot run on this machine; null where it can. */
  missing?(): string | null;
  run(attack: Attack): Promise<Outcome>;
}

export interface Findings {
  readonly broken: readonly string[];
  /** Notes what is to be said where something did not hold. */
  expect(held: boolean, otherwise: () => string): void;
}

/** Collects what was seen; the first few say enough. */
export function createFindings(most = 20): Findings {
  const broken: string[] = [];
  return {
    broken,
    expect(held, otherwise) {
      if (!held && broken.length < most) broken.push(otherwise());
    },
  };
}
