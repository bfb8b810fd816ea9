/** Leaders are killed during imports and under load: nothing that was counted is lost or stored twice. */
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { aLead, someLeads } from "../../../../test/support/builders.ts";
import type { Attack, Fault, Figures, Findings } from "../../fault.ts";
import { documentsOf, type Key, look, makeAccount, makeKey } from "../../product/contents.ts";
import { type Hammer, hammer, lateInEach } from "./hammer.ts";
import { attackCluster, beginImport, countsOf, errorOf, leadsOf, type Place, type Places } from "./places.ts";

const rows = 2_000;

export const clusterKills: Fault = {
  name: "cluster: kills",
  attack: "the leader is killed in an import through another node, while clients ask all servers; kills",
  promise: "each lead once, the same on every node; the other nodes continue to serve; usage is the number of answers",
  small: 1,
  full: 100,
  waits: true,
  missing: missingRqlited,
  breakages: [
    {
      name: "a flush that is counted each time it is sent",
      times: 6,
      patches: [
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

type Expect = Findings["expect"];

function run(attack: Attack): Promise<Figures> {
  return attackCluster(
    attack,
    (store) => {
      const account = makeAccount(store, "acme", someLeads(3));
      return { watch: makeKey(store, account), counted: makeKey(store, account) };
    },
    async ({ places, made: { watch, counted }, expect, measure }) => {
      await places.untilServing(watch.secret);
      const counting = hammer(places.all, counted.secret, 5);
      let kills = 0;
      return {
        async take() {
          const late = await lateInEach(async () => {
            const { ms, failed } = await killOnce(places, ++kills, attack.random, counting, expect);
            measure("imports of 2,000 leads", ms);
            await places.untilServing(watch.secret);
            await compare(places, 3 + rows * kills, kills, expect);
            return failed.length === 0 ? [] : [`${failed.length} times with ${[...new Set(failed)]}`];
          });
          for (const what of late) expect(false, () => `after kill ${kills} other nodes answered ${what}`);
        },
        async end() {
          const asked = await counting.end();
          const answered = asked.filter(({ status }) => status === 200).length;
          // A client that stops waiting does not know whether its request was answered.
          const unknown = asked.filter(({ status }) => status === 0).length;
          await places.untilServing(watch.secret);
          const found = await usageOf(places.all[0], counted, answered);
          expect(
            found >= answered && found <= answered + unknown,
            () => `usage is ${found}; ${answered} requests were answered, and ${unknown} may have been`,
          );
          return { "requests answered": answered };
        },
      };
    },
  );
}

/** One import and one kill. Returns how long the import took, and the answers of other nodes that were not leads. */
async function killOnce(
  places: Places,
  turn: number,
  random: Attack["random"],
  counting: Hammer,
  expect: Expect,
): Promise<{ ms: number; failed: number[] }> {
  const [local, other] = await places.followers();
  const leader = await places.leader();
  const { importing, beginMs } = await beginImport(
    local,
    other,
    Array.from({ length: rows }, () => aLead()),
  );
  await Bun.sleep(random.below(200));
  const killedMs = performance.now();
  await leader.kill();
  await Bun.sleep(random.below(2_000));
  await leader.restart();
  const ended = await importing;
  const ms = performance.now() - beginMs;
  expect(ended.status === 0, () => `import ${turn} ${errorOf(ended)}`);
  const { imported } = countsOf(ended);
  expect(imported === rows, () => `import ${turn} counted ${imported} of ${rows} leads`);
  const failed = counting.asked.filter((one) => one.atMs > killedMs && one.place !== leader && one.status !== 200);
  return { ms, failed: failed.map(({ status }) => status) };
}

/** Compares the files of all nodes, once they have caught up: the same leads, each once. */
async function compare(places: Places, wanted: number, turn: number, expect: Expect): Promise<void> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await Bun.sleep(50)) {
    if ((await Promise.all(places.all.map(leadsOf))).every((leads) => leads >= wanted)) break;
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

/** The count of a key on all days, once it does not change any more: a server sends its counts each second. */
async function usageOf({ node }: Place, { id }: Key, answered: number): Promise<number> {
  const sum =
    "SELECT coalesce(sum(requests), 0) AS sum FROM usage JOIN keys ON keys.number = usage.key WHERE keys.id = ?";
  let last = -1;
  for (const endMs = performance.now() + 30_000; performance.now() < endMs; await Bun.sleep(2_000)) {
    const read = () => look(node.path, (file) => file.query<{ sum: number }, [string]>(sum).get(id)?.sum, "read-only");
    const counted = read() ?? 0;
    if (counted >= answered && counted === last) return counted;
    last = counted;
  }
  return last;
}
