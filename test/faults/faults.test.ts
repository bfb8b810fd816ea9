/** A small run of every attack: the product holds, and a build that is broken on purpose is caught. */
import { describe, expect, test } from "bun:test";
import { attempt } from "./attempt.ts";
import { faults } from "./faults.ts";

const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);

for (const fault of faults) {
  const reason = fault.missing?.() ?? null;
  describe.skipIf(reason !== null)(`${fault.name}${reason === null ? "" : ` (${reason})`}`, () => {
    test(fault.held, async () => {
      const { broken, done } = await attempt(fault, { times: fault.small, seed });
      expect({ seed, broken, done }).toEqual({ seed, broken: [], done: fault.small });
    }, 120_000);

    test.each(fault.breakages)(
      "$name is noticed",
      async (breakage) => {
        const { broken } = await attempt(fault, { times: fault.small, seed, breakage });
        expect({ seed, noticed: broken.length > 0 }).toEqual({ seed, noticed: true });
      },
      120_000,
    );
  });
}
