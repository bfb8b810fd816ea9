/** Imports while others write: the same file through two nodes at once, and an erasure of a person whose leads it has. */
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { aLead, linesOf } from "../../../../test/support/builders.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { documentsOf, look } from "../../product/contents.ts";
import { attackCluster, beginImport, compareNodes, expectDone, type Places } from "./places.ts";

const rows = 2_000;
const person = "gone@example.com";

export const clusterImports: Fault = {
  name: "cluster: imports",
  attack: "one file through two nodes at once, then an import with a person erased through another node; rounds",
  promise: "each lead once and the same on every node, and only the erased person is missing",
  small: 1,
  full: 20,
  waits: true,
  missing: missingRqlited,
  breakages: [
    broken(
      "an import without its assertions",
      "extensions/cluster/import.ts",
      "assertInTransaction(isPlannedOn(",
      "assertInTransaction(sql`1`) ?? assertInTransaction(isPlannedOn(",
      { isSlow: true, times: 2 },
    ),
  ],
  run,
};

function run(attack: Attack): Promise<Figures> {
  return attackCluster(attack, { leads: 3, keys: 1 }, ({ places, keys: [watch], expect }) => {
    let kept = 3;
    return {
      async take(turn) {
        kept += await importTwice(places, turn, expect);
        kept += await importDuringErasure(places, turn, expect);
        await places.untilServing(watch);
        await compareNodes(places, kept, `after round ${turn}`, expect);
        const documents = look(places.all[0].node.path, documentsOf, "read-only");
        const isErased = !documents.some((document) => document.includes(person));
        expect(isErased, () => `after round ${turn} there are leads of the erased person`);
        return [];
      },
    };
  });
}

/** Fifty leads share each second, so that most have to be moved, and both imports need the same milliseconds. */
async function importTwice(places: Places, turn: number, expect: Attack["expect"]): Promise<number> {
  const startMs = Date.parse("2026-01-30T10:00:00Z") + turn * 60_000;
  const leads = Array.from({ length: rows }, (_, n) =>
    aLead({ identified_at: new Date(startMs + Math.floor(n / 50) * 1_000).toISOString() }),
  );
  const args = ["lead", "import", "acme", "-", "--json"];
  const both = await Promise.all(places.all.slice(0, 2).map((place) => place.admin(args, linesOf(leads))));
  const counts = both.map((ended) => expectDone(`an import of round ${turn}`, ended, expect).imported);
  const imported = counts.reduce((sum, count) => sum + count, 0);
  expect(imported === rows, () => `in round ${turn} two imports of ${rows} leads counted ${imported}`);
  return imported;
}

/** One import, one erasure, one kill, and one node that is paused. Returns how many more leads are stored after it. */
async function importDuringErasure(places: Places, turn: number, expect: Attack["expect"]): Promise<number> {
  const [local, other] = await places.followers();
  const leader = await places.leader();
  const leads = Array.from({ length: rows }, (_, n) => (n % 50 === 0 ? aLead({ email: person }) : aLead()));
  const { importing } = await beginImport(local, other, leads);
  // The first step is written, and the next one is planned. Writes to this node stay pending until the person is erased.
  await Bun.sleep(30);
  local.engine.kill("SIGSTOP");
  const erased = await other.admin(["lead", "erase", "acme", "--email", person]);
  local.engine.kill("SIGCONT");
  expectDone("the erasure", erased, expect);
  await leader.kill();
  await leader.restart();
  const { imported, suppressed } = expectDone(`import ${turn}`, await importing, expect);
  expect(imported + suppressed === rows, () => `import ${turn} counted ${imported + suppressed} of ${rows} leads`);
  // Some leads of the person were stored before the erasure, which removed them.
  return imported - (rows / 50 - suppressed);
}
