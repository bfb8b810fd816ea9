/** The proof of the ledger: over random histories it names exactly who was sent each lead, or a gap names the time. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { aFolder } from "../../support/folder.ts";
import { type Act, History, kinds } from "./history.ts";

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...kinds),
  x: fc.nat(10_000),
  y: fc.nat(1_000_000_000),
});

test("the ledger names exactly who was sent each lead and when, or a gap names the time", async () => {
  const first: Act = { kind: "import", x: 30, y: 1 };
  const histories = fc.array(act, { minLength: 20, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(histories, async (acts) => {
      const history = new History(aFolder());
      for (const one of [first, ...acts]) await history.act(one);
      await history.compare();
      await history.close();
      expect(history.differences).toEqual([]);
    }),
    { numRuns: 8, interruptAfterTimeLimit: 15_000 },
  );
}, 60_000);
