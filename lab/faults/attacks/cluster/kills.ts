/** Leaders are killed while imports run and requests are counted: nothing that was counted is lost, or there twice. */

import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { aLead, someLeads } from "../../../../test/support/builders.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { documentsOf, type Key, look, makeAccount, makeKey } from "../../product/contents.ts";
import type { Random } from "../../random.ts";
import { type Hammer, hammer, spread } from "./hammer.ts";
import { lateInEach } from "./late.ts";
import { leadsOf, type Place, type Places, startPlaces } from "./places.ts";

const rows = 2_000;

export const clusterKills: Fault = {
  name: "cluster: kills",
  attack: "the leader is killed in an import through another node, while clients ask all servers; kills",
  promise: "each lead once, the same on every node; the other nodes answer all the while; usage is what was answered",
  small: 1,
  full: 100,
  waits: true,
  missing: missingRqlited,
  breakages: [
    {
      name: "a flush without a number",
      times: 3,
      // Two things keep a flush that is sent again from counting twice.
      patches: [
        { file: "extensions/cluster/usage-flush.ts", from: ") WHERE $", to: ") WHERE 1 OR $" },
        {
          file: "extensions/cluster/transaction.ts",
          from: "const remember = sql`INSERT INTO",
          to: "const remember = sql`INSERT OR REPLACE INTO",
        },
      ],
    },
  ],
  run,
};

type Expect = (held: boolean, otherwise: () => string) => void;

async function run({ build, folder, times, goesOn, random, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const { places, made } = await startPlaces(build, folder, (store) => {
    const account = makeAccount(store, "acme", someLeads(3));
    return { watch: makeKey(store, account), counted: makeKey(store, account) };
  });
  const { watch, counted } = made;
  const tookMs: number[] = [];
  let done = 0;
  let answered = 0;
  try {
    await places.untilServing(watch.secret);
    const counting = hammer(places.all, counted.secret, 5);
    let kills = 0;
    for (; done < times && goesOn(); progress(++done)) {
      const late = await lateInEach(async () => {
        const { ms, refused } = await killOnce(places, { turn: ++kills, random, counting }, expect);
        tookMs.push(ms);
        await places.untilServing(watch.secret);
        await compare(places, 3 + rows * kills, kills, expect);
        return refused.length === 0 ? [] : [`${refused.length} times with ${[...new Set(refused)]}`];
      });
      for (const what of late) expect(false, () => `after kill ${kills} other nodes answered ${what}`);
    }
    const asked = await counting.end();
    answered = asked.filter(({ status }) => status === 200).length;
    // A client that waits no longer does not know whether it was answered.
    const unheard = asked.filter(({ status }) => status === 0).length;
    await places.untilServing(watch.secret);
    const found = await usageOf(places.all[0], counted, answered);
    expect(
      found >= answered && found <= answered + unheard,
      () => `usage is ${found}; ${answered} requests were answered, and ${unheard} may have been`,
    );
  } finally {
    await places.end();
  }
  return { done, broken, figures: { "imports of 2,000 leads": spread(tookMs), "requests answered": answered } };
}

/** One import and one kill; gives how long the import took, and what other nodes answered but leads. */
async function killOnce(
  places: Places,
  { turn, random, counting }: { turn: number; random: Random; counting: Hammer },
  expect: Expect,
): Promise<{ ms: number; refused: number[] }> {
  const [beside, other] = await places.followers();
  const leader = await places.leader();
  const text = Array.from({ length: rows }, () => JSON.stringify(aLead())).join("\n");
  const before = await leadsOf(other);
  const begunMs = performance.now();
  const importing = places.admin(beside, ["lead", "import", "acme", "-", "--json"], text);
  const untilMs = begunMs + 10_000;
  while ((await leadsOf(other)) === before && performance.now() < untilMs) await Bun.sleep(2);
  await Bun.sleep(random.below(200));
  const killedMs = performance.now();
  leader.engine.kill("SIGKILL");
  await leader.engine.exited;
  await Bun.sleep(random.below(2_000));
  await places.restart(leader);
  const { status, stdout, stderr } = await importing;
  const endedMs = performance.now();
  expect(status === 0, () => `import ${turn} ended with ${status}: ${stderr.trim().split("\n").at(-1)}`);
  const { imported }: { imported?: number } = JSON.parse(stdout === "" ? "{}" : stdout);
  expect(imported === rows, () => `import ${turn} counted ${imported} of ${rows} leads`);
  const refused = counting.asked.filter((one) => one.atMs > killedMs && one.place !== leader && one.status !== 200);
  return { ms: endedMs - begunMs, refused: refused.map(({ status }) => status) };
}

/** What the file of every node has, once all have caught up: so many leads, each once, and the same everywhere. */
async function compare(places: Places, wanted: number, turn: number, expect: Expect): Promise<void> {
  const untilMs = performance.now() + 60_000;
  while (performance.now() < untilMs) {
    if ((await Promise.all(places.all.map(leadsOf))).every((leads) => leads >= wanted)) break;
    await Bun.sleep(50);
  }
  const found = places.all.map(contentsOf);
  expect(new Set(found.map(({ hash }) => hash)).size === 1, () => `after kill ${turn} the nodes differ`);
  for (const { leads, ids } of found) {
    expect(leads === wanted && ids === wanted, () => `after kill ${turn}: ${leads} leads, ${ids} ids, not ${wanted}`);
  }
}

function contentsOf({ node }: Place): { leads: number; ids: number; hash: string } {
  return look(
    node.path,
    (database) => {
      const documents = documentsOf(database);
      const ids = database.query<{ ids: number }, []>("SELECT count(DISTINCT uuid) AS ids FROM stored_leads").get();
      const hasher = new Bun.CryptoHasher("sha256");
      for (const document of documents) hasher.update(document);
      return { leads: documents.length, ids: ids?.ids ?? 0, hash: hasher.digest("hex") };
    },
    "read-only",
  );
}

/** What is counted of a key on all days, once it stays as it is: the counts of the nodes are on their way for a second. */
async function usageOf({ node }: Place, { id }: Key, answered: number): Promise<number> {
  let last = -1;
  for (const endMs = performance.now() + 30_000; performance.now() < endMs; await Bun.sleep(2_000)) {
    const counted = countedIn(node.path, id);
    if (counted >= answered && counted === last) return counted;
    last = counted;
  }
  return last;
}

function countedIn(path: string, key: string): number {
  return look(
    path,
    (database) =>
      database
        .query<{ sum: number }, [string]>(
          "SELECT coalesce(sum(requests), 0) AS sum FROM usage JOIN keys ON keys.number = usage.key WHERE keys.id = ?",
        )
        .get(key)?.sum ?? 0,
    "read-only",
  );
}
