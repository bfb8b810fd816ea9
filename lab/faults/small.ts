/** A small run of an attack: the product withstands it, and a build that is broken on purpose is noticed. */
import { expect, test } from "bun:test";
import { unless } from "../../test/support/needing.ts";
import { attempt, isNoticed } from "./attempt.ts";
import type { Breakage, Fault } from "./fault.ts";

const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
const timeoutMs = 600_000;

/** Defines the tests of one attack. */
export function describeSmall(fault: Fault): void {
  const reason = fault.missing?.() ?? null;
  const breakages = fault.breakages.filter(({ isSlow }) => isSlow !== true);
  const noticed = new Map<Breakage, Promise<boolean>>();
  const notice = (breakage: Breakage) => {
    const noticing = noticed.get(breakage) ?? isNoticed(fault, breakage, { seed });
    noticed.set(breakage, noticing);
    return noticing;
  };
  unless(reason).describe(fault.name, () => {
    const hold = async () => {
      // Attacks that mostly wait can wait together.
      if (fault.waits === true) for (const breakage of breakages) void notice(breakage);
      const { broken, done } = await attempt(fault, { times: fault.small, seed });
      // Some attacks work in batches, and may do more than they were asked to.
      expect({ seed, broken, isEnough: done >= fault.small }).toEqual({ seed, broken: [], isEnough: true });
    };
    test(fault.promise, hold, timeoutMs);

    for (const breakage of breakages) {
      const expectNoticed = async () => {
        expect({ seed, noticed: await notice(breakage) }).toEqual({ seed, noticed: true });
      };
      test(`${breakage.name}: noticed`, expectNoticed, timeoutMs);
    }
  });
}
