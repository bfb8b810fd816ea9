/** A small run of an attack: the product withstands it, and a build that is broken on purpose is noticed. */
import { expect, test } from "bun:test";
import { unless } from "../../test/support/needing.ts";
import { attempt } from "./attempt.ts";
import type { Breakage, Fault, Outcome } from "./fault.ts";

const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
/** Chance decides where a cut falls. If one attempt in six misses the broken line, less than one run in a million does. */
const maxAttempts = 8;
/** No attempt begins later than this, so that the last one ends in time on a busy machine. */
const attemptsMs = 400_000;
const timeoutMs = 600_000;

/** Defines the tests of one attack. */
export function describeSmall(fault: Fault): void {
  const reason = fault.missing?.() ?? null;
  const breakages = fault.breakages.filter(({ isSlow }) => isSlow !== true);
  const attempts = new Map<Breakage | null, Promise<Outcome>>();
  const begin = (breakage: Breakage | null) => {
    const times = breakage?.times ?? fault.small;
    const attempted =
      attempts.get(breakage) ?? attempt(fault, { times, seed, ...(breakage === null ? {} : { breakage }) });
    attempts.set(breakage, attempted);
    return attempted;
  };
  unless(reason).describe(fault.name, () => {
    const hold = async () => {
      // Attacks that mostly wait can wait together.
      if (fault.waits === true) for (const breakage of breakages) void begin(breakage);
      const { broken, done } = await begin(null);
      // Some attacks come in portions, and end with the one in which it was enough.
      expect({ seed, broken, isEnough: done >= fault.small }).toEqual({ seed, broken: [], isEnough: true });
    };
    test(fault.promise, hold, timeoutMs);

    for (const breakage of breakages) {
      const notice = async () => {
        const endMs = performance.now() + attemptsMs;
        let { broken } = await begin(breakage);
        for (let again = 1; broken.length === 0 && again < maxAttempts && performance.now() < endMs; again++) {
          const times = breakage.times ?? fault.small;
          ({ broken } = await attempt(fault, { times, seed: seed + again, breakage }));
        }
        expect({ seed, noticed: broken.length > 0 }).toEqual({ seed, noticed: true });
      };
      test(`${breakage.name}: noticed`, notice, timeoutMs);
    }
  });
}
