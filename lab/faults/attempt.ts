/** Runs an attack in a temporary folder, which is removed afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../random.ts";
import { breakBuild, project } from "./breaking/build.ts";
import type { Breakage, Fault, Outcome } from "./fault.ts";

/** Attacks are random: if one attempt in six misses a defect, less than one in a million misses it eight times. */
const maxAttempts = 8;
/** No attempt starts later than this, so that the last one ends before the timeout of the test. */
const attemptsMs = 400_000;
/** More violations would add nothing to the report. */
const maxBroken = 20;

export interface Trial {
  readonly times: number;
  readonly seed: number;
  /** The defect to detect; the product itself is attacked without one. */
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
    // One violation is enough to detect a defect.
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

/** Attacks a broken build up to eight times. Returns true if the defect was detected. */
export async function isNoticed(fault: Fault, breakage: Breakage, { seed, ...trial }: Omit<Trial, "times">) {
  const times = breakage.times ?? fault.small;
  const endMs = performance.now() + attemptsMs;
  for (let again = 0; again < maxAttempts && performance.now() < endMs; again++) {
    const { broken } = await attempt(fault, { ...trial, times, seed: seed + again, breakage });
    if (broken.length > 0) return true;
  }
  return false;
}
