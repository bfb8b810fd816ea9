/** The ledger against a model that remembers every answer: it never says too little. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { aFolder } from "../../support/folder.ts";
import { type Below, type Comparison, openWorld } from "./world.ts";

/** Numbers that a seed gives, spread evenly enough for steps. */
function numbersOf(seed: number): Below {
  let state = seed | 0;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return (state >>> 8) % bound;
  };
}

/** Compares the ledger with the model after 600 steps of a world. */
async function compareAfter(seed: number, changes = false): Promise<Comparison> {
  const world = openWorld(join(aFolder(), "leadfile.db"), numbersOf(seed), changes);
  for (let step = 0; step < 600; step++) await world.step();
  const comparison = await world.compare();
  world.close();
  return comparison;
}

test.each([
  ["is named for every answer, and others only as possibly", false],
  ["is named if leads are replaced, undone, or kept for a time, and arrive again", true],
])("who received a lead %s", async (_, changes) => {
  const property = fc.asyncProperty(fc.integer(), async (seed) => {
    const { received, missed, surelyTooMuch } = await compareAfter(seed, changes);
    expect({ seed, missed, surelyTooMuch }).toEqual({ seed, missed: 0, surelyTooMuch: 0 });
    expect(received).toBeGreaterThan(100);
  });
  await fc.assert(property, { numRuns: 1 });
});

test("names nobody who did not receive a lead, if no lead is replaced or imported again", async () => {
  const { possiblyTooMuch, received } = await compareAfter(-4);
  expect(received).toBeGreaterThan(100);
  expect(possiblyTooMuch).toBe(0);
});
