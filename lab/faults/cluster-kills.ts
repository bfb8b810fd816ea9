/** Leaders are killed while imports run and requests are counted: nothing that was counted is lost, or there twice. */
import { aLead, someLeads } from "../../test/builders.ts";
import { missingRqlited, type Place, type Places, startPlaces, statusAt } from "./cluster-places.ts";
import { type Key, makeAccount, makeKey } from "./contents.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "./fault.ts";

const rows = 3_000;
const person = "gone@example.com";

export const clusterKills: Fault = {
  name: "cluster: kills",
  attack:
    "an import through a follower, with a person erased meanwhile through another node and the leader killed; kills",
  held: "each lead once and the same on every node, the person nowhere, usage is what was answered",
  small: 2,
  full: 100,
  missing: missingRqlited,
  breakages: [
    {
      name: "an import without its premises",
      times: 2,
      patches: [{ file: "src/rqlite/import/plan-statements.ts", from: "= CASE WHEN $", to: "= CASE WHEN 1 OR $" }],
    },
    {
      name: "a flush without a number",
      times: 3,
      patches: [{ file: "src/rqlite/usage-flush.ts", from: ") WHERE $", to: ") WHERE 1 OR $" }],
    },
  ],
  run,
};

async function run({ build, folder, times, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const { places, made } = await startPlaces(build, folder, (store) => {
    const account = makeAccount(store, "acme", someLeads(3));
    return { watch: makeKey(store, account), counted: makeKey(store, account) };
  });
  const { watch, counted } = made;
  let done = 0;
  let answered = 0;
  try {
    await places.untilServing(watch.secret);
    const counting = count(places.all, counted);
    let stay = 3;
    for (; done < times && goesOn(); progress(++done)) {
      stay += await attackOnce(places, done, watch, expect);
      const exports = await Promise.all(places.all.map((place) => places.admin(place, ["lead", "export", "acme"])));
      const [one] = exports.map(({ stdout }) => stdout);
      expect(
        exports.every(({ stdout }) => stdout === one),
        () => `after kill ${done + 1} the nodes differ`,
      );
      expect(one?.includes(person) === false, () => `after kill ${done + 1} the erased person is there`);
      const lines = one?.trimEnd().split("\n").length ?? 0;
      expect(lines === stay, () => `after kill ${done + 1} there are ${lines} leads, and ${stay} were counted`);
    }
    answered = await counting.end();
    await places.untilServing(watch.secret);
    await Bun.sleep(2_000);
    const found = await usageOf(places.all[0], counted);
    expect(found === answered + 1, () => `usage is ${found}, and ${answered} requests were answered before it`);
  } finally {
    await places.end();
  }
  return { done, broken, figures: { "requests answered": answered } };
}

/** How many leads a node has by now. */
async function leadsOf({ node }: Place): Promise<number> {
  const answer = await fetch(`${node.url}/db/query?level=none&q=SELECT%20count(*)%20FROM%20stored_leads`);
  const { results }: { readonly results?: readonly { readonly values?: readonly number[][] }[] } = JSON.parse(
    await answer.text(),
  );
  return results?.[0]?.values?.[0]?.[0] ?? 0;
}

/** What is counted of a key, this question included. */
async function usageOf({ server }: Place, { secret }: Key): Promise<number> {
  const answer = await fetch(`${server.url}/api/v1/usage`, { headers: { Authorization: `Bearer ${secret}` } });
  const { requests_today: today }: { readonly requests_today: number } = JSON.parse(await answer.text());
  return today;
}

/** One import, one erasure, one kill and one node that stands still; gives how many leads came to stay. */
async function attackOnce(
  places: Places,
  turn: number,
  watch: Key,
  expect: (held: boolean, otherwise: () => string) => void,
): Promise<number> {
  const [beside, other] = await places.followers();
  const leader = await places.leader();
  const leads = Array.from({ length: rows }, (_, n) => (n % 50 === 0 ? aLead({ email: person }) : aLead()));
  const text = leads.map((lead) => JSON.stringify(lead)).join("\n");
  const importing = places.admin(beside, ["lead", "import", "acme", "-", "--json"], text);
  // The first step is in, and the next one is planned.
  const before = await leadsOf(other);
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
  expect(status === 0, () => `import ${turn + 1} ended with ${status}: ${stderr.trim().split("\n").at(-1)}`);
  await places.untilServing(watch.secret);
  const counts: { imported?: number; suppressed?: number } = JSON.parse(stdout === "" ? "{}" : stdout);
  const persons = rows / 50;
  // Of the person's leads some came in before the erasure, and went with it.
  const stayed = (counts.imported ?? 0) - (persons - (counts.suppressed ?? 0));
  return stayed;
}

/** Asks all servers without a pause; gives how often it was answered with leads. */
function count(all: readonly Place[], { secret }: Key) {
  let isOver = false;
  let answered = 0;
  const asking = all.map(async (place) => {
    while (!isOver) {
      if ((await statusAt(place, secret)) === 200) answered++;
      await Bun.sleep(5);
    }
  });
  return {
    async end(): Promise<number> {
      isOver = true;
      await Promise.all(asking);
      return answered;
    },
  };
}
