/** The ledger against a model that remembers every answer: it never says too little. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { aFolder } from "../folder.ts";
import { type Below, openWorld } from "./world.ts";

/** Numbers that a seed gives, spread evenly enough for steps. */
function numbersOf(seed: number): Below {
  let state = seed | 0;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return (state >>> 8) % bound;
  };
}

test("who received a lead is said of every answer, and too much of few leads and only as possibly", async () => {
  const property = fc.asyncProperty(fc.integer(), async (seed) => {
    const world = openWorld(join(aFolder(), "leadfile.db"), numbersOf(seed));
    for (let step = 0; step < 1000; step++) await world.step();
    const { received, missed, possiblyTooMuch, surelyTooMuch } = world.compare();
    world.close();
    expect({ missed, surelyTooMuch }).toEqual({ missed: 0, surelyTooMuch: 0 });
    expect(received).toBeGreaterThan(100);
    expect(possiblyTooMuch).toBeLessThan(received * 0.03);
  });
  await fc.assert(property, { numRuns: 3 });
});
