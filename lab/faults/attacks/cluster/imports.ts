/** Imports that others write beside: the same file through two nodes at once, and a person who is erased meanwhile. */

import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { aLead, someLeads } from "../../../../test/support/builders.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { makeAccount, makeKey } from "../../product/contents.ts";
import { leadsOf, type Places, startPlaces } from "./places.ts";

const rows = 2_000;
const person = "gone@example.com";

export const clusterImports: Fault = {
  name: "cluster: imports",
  attack: "one file through two nodes at once, then an import with a person erased through another node; rounds",
  promise: "each lead once and the same on every node, and of all people only the erased one is left out",
  small: 1,
  full: 20,
  waits: true,
  missing: missingRqlited,
  breakages: [
    {
      name: "an import without its premises",
      isSlow: true,
      times: 2,
      patches: [
        {
          file: "extensions/cluster/import.ts",
          from: "premise(isUnchangedSince(since, account))",
          to: "premise(sql`1`)",
        },
      ],
    },
  ],
  run,
};

type Expect = (held: boolean, otherwise: () => string) => void;

async function run({ build, folder, times, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const { places, made: watch } = await startPlaces(build, folder, (store) => {
    return makeKey(store, makeAccount(store, "acme", someLeads(3)));
  });
  let done = 0;
  try {
    let stay = 3;
    for (; done < times && goesOn(); progress(++done)) {
      await places.untilServing(watch.secret);
      stay += await importTwice(places, done + 1, expect);
      stay += await importBesideErasure(places, done + 1, expect);
      await places.untilServing(watch.secret);
      const exports = await Promise.all(places.all.map((place) => places.admin(place, ["lead", "export", "acme"])));
      const [one] = exports.map(({ stdout }) => stdout);
      const turn = done + 1;
      expect(
        exports.every(({ stdout }) => stdout === one),
        () => `after round ${turn} the nodes differ`,
      );
      expect(one?.includes(person) === false, () => `after round ${turn} the erased person is there`);
      const lines = one?.trimEnd().split("\n").length ?? 0;
      expect(lines === stay, () => `after round ${turn} there are ${lines} leads, and ${stay} were counted`);
    }
  } finally {
    await places.end();
  }
  return { done, broken, figures: {} };
}

interface Counts {
  readonly imported?: number;
  readonly suppressed?: number;
}

const linesOf = (leads: readonly object[]) => leads.map((lead) => JSON.stringify(lead)).join("\n");

/** Fifty leads share each second, so that most have to be moved, and both importers want the same moments. */
async function importTwice(places: Places, turn: number, expect: Expect): Promise<number> {
  const startMs = Date.parse("2026-01-30T10:00:00Z") + turn * 60_000;
  const text = linesOf(
    Array.from({ length: rows }, (_, n) =>
      aLead({ identified_at: new Date(startMs + Math.floor(n / 50) * 1000).toISOString() }),
    ),
  );
  const both = await Promise.all(
    places.all.slice(0, 2).map((place) => places.admin(place, ["lead", "import", "acme", "-", "--json"], text)),
  );
  let imported = 0;
  for (const { status, stdout, stderr } of both) {
    expect(
      status === 0,
      () => `in round ${turn} one of two imports ended with ${status}: ${stderr.trim().split("\n").at(-1)}`,
    );
    const counts: Counts = JSON.parse(stdout === "" ? "{}" : stdout);
    imported += counts.imported ?? 0;
  }
  expect(imported === rows, () => `in round ${turn} two imports of ${rows} leads counted ${imported}`);
  return imported;
}

/** One import, one erasure, one kill and one node that stands still; gives how many leads came to stay. */
async function importBesideErasure(places: Places, turn: number, expect: Expect): Promise<number> {
  const [beside, other] = await places.followers();
  const leader = await places.leader();
  const leads = Array.from({ length: rows }, (_, n) => (n % 50 === 0 ? aLead({ email: person }) : aLead()));
  const before = await leadsOf(other);
  const importing = places.admin(beside, ["lead", "import", "acme", "-", "--json"], linesOf(leads));
  // The first step is in, and the next one is planned.
  const untilMs = performance.now() + 10_000;
  while ((await leadsOf(other)) === before && performance.now() < untilMs) await Bun.sleep(2);
  await Bun.sleep(30);
  // What is on its way into this node stays there until the person is erased.
  beside.engine.kill("SIGSTOP");
  const erased = await places.admin(other, ["lead", "erase", "acme", "--email", person]);
  beside.engine.kill("SIGCONT");
  expect(erased.status === 0, () => `erasing ended with ${erased.status}: ${erased.stderr}`);
  leader.engine.kill("SIGKILL");
  await leader.engine.exited;
  await places.restart(leader);
  const { status, stdout, stderr } = await importing;
  expect(status === 0, () => `import ${turn} ended with ${status}: ${stderr.trim().split("\n").at(-1)}`);
  const counts: Counts = JSON.parse(stdout === "" ? "{}" : stdout);
  const persons = rows / 50;
  const kept = (counts.imported ?? 0) + (counts.suppressed ?? 0);
  expect(kept === rows, () => `import ${turn} told of ${kept} leads, and ${rows} were there`);
  // Of the person's leads some came in before the erasure, and went with it.
  return (counts.imported ?? 0) - (persons - (counts.suppressed ?? 0));
}
