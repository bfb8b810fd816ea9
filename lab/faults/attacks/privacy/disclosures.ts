/** Keys read at random while imports, days and restarts pass: the ledger knows every lead that each of them received. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";

export const disclosures: Fault = {
  name: "the ledger of recipients",
  attack:
    "random keys, filters, and pages, with imports, days, restarts, and gaps in between, and in each second world leads that are replaced, undone, or kept for a time; pages against a model",
  promise: "no lead missed, none too many but as possibly, and those under 1 %; a gap names each time without a ledger",
  small: 600,
  full: 100_000,
  breakages: [
    broken(
      "a page is noted from its newest lead alone",
      "src/db/leads.ts",
      "const [, oldestMs = null] = rows.at(-1) ?? [];",
      "const [, oldestMs = null] = rows[0] ?? [];",
    ),
    broken(
      "a page with a filter is noted as one without",
      "src/privacy/disclosures/pending-pages.ts",
      "filter: writeFilter(filters)",
      "filter: writeFilter(filters).slice(0, 0)",
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
  const unchanged = { received: 0, possiblyTooMuch: 0 };
  for (let round = 0; total.pages < times && goesOn(); round++) {
    const place = join(folder, `world-${round}`);
    mkdirSync(place);
    const changes = round % 2 === 1;
    const world = new World(join(place, "leadfile.db"), random.branch(round), changes);
    for (let step = 0; step < Math.min(times, maxStepsEach); step++) await world.step();
    const { missed, surelyTooMuch, ...rest } = await world.compare();
    world.close();
    rmSync(place, { recursive: true });
    expect(missed === 0, () => `${missed} of ${rest.received} leads are missed in world ${round}`);
    expect(surelyTooMuch === 0, () => `${surelyTooMuch} leads too many in world ${round}`);
    for (const name of ["pages", "received", "unrecorded"] as const) total[name] += rest[name];
    // A lead that comes again with other values may have been received before.
    if (!changes) for (const name of ["received", "possiblyTooMuch"] as const) unchanged[name] += rest[name];
    progress(total.pages);
  }
  const share = (100 * unchanged.possiblyTooMuch) / Math.max(1, unchanged.received);
  // One world alone may be a little above it.
  expect(share < (total.pages > 20_000 ? 1 : 3), () => `${share.toFixed(2)} % were possibly too much`);
  const figures = {
    "leads received": total.received,
    "received in a gap": total.unrecorded,
    "possibly too much": `${share.toFixed(2)} %`,
  };
  return figures;
}
