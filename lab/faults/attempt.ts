/** Runs a fault once, at a size, and tidies up after it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../random.ts";
import { breakBuild, project } from "./breaking/build.ts";
import type { Breakage, Fault, Outcome } from "./fault.ts";

/** Chance decides where a cut falls. If one attempt in six misses the broken line, less than one run in a million does. */
const maxAttempts = 8;
/** No attempt begins later than this, so that the last one of a test ends in time on a busy machine. */
const attemptsMs = 400_000;
/** More observations say nothing new. */
const maxBroken = 20;

export interface Trial {
  readonly times: number;
  readonly seed: number;
  /** The build that is to be caught; the product itself without one. */
  readonly breakage?: Breakage;
  /** The deadline for starting rounds, by performance.now(). */
  readonly untilMs?: number;
  readonly progress?: (done: number) => void;
}

export async function attempt(
  fault: Fault,
  { times, seed, breakage, untilMs = Number.POSITIVE_INFINITY, progress = () => undefined }: Trial,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-fault-"));
  const build = breakage === undefined ? project : breakBuild(breakage.patches);
  try {
    const random = seeded(seed).branch(fault.name);
    const broken: string[] = [];
    // The first observation is enough to catch a broken build.
    const goesOn = () => performance.now() < untilMs && (breakage === undefined || broken.length === 0);
    let done = 0;
    const progressTo = (now: number) => {
      done = now;
      progress(now);
    };
    const figures = await fault.run({
      build,
      breakage: breakage ?? null,
      folder,
      file: join(folder, "leadfile.db"),
      times,
      random,
      goesOn,
      broken,
      expect(holds, otherwise) {
        if (!holds && broken.length < maxBroken) broken.push(otherwise());
      },
      progress: progressTo,
      *turns() {
        for (let number = 0; number < times && goesOn(); progressTo(++number)) {
          const place = mkdtempSync(join(folder, "turn-"));
          yield { number, place, random: random.branch(number) };
          rmSync(place, { recursive: true, force: true });
        }
      },
    });
    return { done, broken, figures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    if (build !== project) rmSync(build, { recursive: true, force: true });
  }
}

/** Attacks a broken build until a promise is broken, a few times. Returns whether it was. */
export async function isNoticed(fault: Fault, breakage: Breakage, { seed, ...trial }: Omit<Trial, "times">) {
  const times = breakage.times ?? fault.small;
  const endMs = performance.now() + attemptsMs;
  for (let again = 0; again < maxAttempts && performance.now() < endMs; again++) {
    const { broken } = await attempt(fault, { ...trial, times, seed: seed + again, breakage });
    if (broken.length > 0) return true;
  }
  return false;
}
