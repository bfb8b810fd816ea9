/** Keys read at random while imports, days and restarts pass: the ledger knows every lead that each of them received. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";

export const disclosures: Fault = {
  name: "the ledger of recipients",
  attack:
    "random keys, filters, and pages, with imports, days, restarts, and gaps in between, and in each second world leads that are replaced, undone, or kept for a time; pages against a model",
  promise: "no lead missed, and none too many; a gap names each time without a ledger",
  small: 600,
  full: 100_000,
  breakages: [
    broken(
      "the last lead of a page is not noted",
      "src/db/leads.ts",
      "numbers: rows.map(([, , number]) => number),",
      "numbers: rows.slice(0, -1).map(([, , number]) => number),",
    ),
    broken(
      "the number of a lead is used again after an undo",
      "src/import/write/stored-leads.ts",
      "SELECT 1 + max(last,",
      "SELECT 1 + max(0,",
    ),
    broken(
      "pages that were not written yet are forgotten at a stop",
      "src/server/store.ts",
      "do written = writeWhenFree($client, flush);",
      'do written = "idle";',
    ),
  ],
  run,
};

/** So many steps make some thousand pages of some hundred leads. In a small run, a world is smaller as well. */
const maxStepsEach = 1700;

async function run({ build, folder, times, random, goesOn, progress, expect }: Attack): Promise<Figures> {
  // The build that is attacked has a world of its own.
  const { World }: typeof import("./world.ts") = await import(join(build, "lab/faults/attacks/privacy/world.ts"));
  const total = { pages: 0, received: 0, unrecorded: 0 };
  for (let round = 0; total.pages < times && goesOn(); round++) {
    const place = join(folder, `world-${round}`);
    mkdirSync(place);
    const changes = round % 2 === 1;
    const world = new World(join(place, "leadfile.db"), random.branch(round), changes);
    for (let step = 0; step < Math.min(times, maxStepsEach); step++) await world.step();
    const { missed, tooMuch, ...rest } = await world.compare();
    world.close();
    rmSync(place, { recursive: true });
    expect(missed === 0, () => `${missed} of ${rest.received} leads are missed in world ${round}`);
    expect(tooMuch === 0, () => `${tooMuch} leads too many in world ${round}`);
    for (const name of ["pages", "received", "unrecorded"] as const) total[name] += rest[name];
    progress(total.pages);
  }
  return { "leads received": total.received, "received in a gap": total.unrecorded };
}
