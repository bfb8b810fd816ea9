/** Runs a fault once, at a size, and tidies up after it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../random.ts";
import { breakBuild, project } from "./breaking/build.ts";
import type { Attack, Breakage, Fault, Outcome } from "./fault.ts";

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

export async function attempt(fault: Fault, { times, seed, breakage, untilMs, progress }: Trial): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-fault-"));
  const build = breakage === undefined ? project : breakBuild(breakage.patches);
  try {
    const random = seeded(seed).branch(fault.name);
    const goesOn = () => untilMs === undefined || performance.now() < untilMs;
    const broken: string[] = [];
    const expect: Attack["expect"] = (holds, otherwise) => {
      if (!holds && broken.length < maxBroken) broken.push(otherwise());
    };
    let done = 0;
    const progressTo = (now: number) => {
      done = now;
      progress?.(now);
    };
    const figures = await fault.run({
      build,
      folder,
      file: join(folder, "leadfile.db"),
      times,
      random,
      goesOn,
      broken,
      expect,
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
