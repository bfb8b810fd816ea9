/** Leaders are killed during imports and under load: nothing that was counted is lost or stored twice. */
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { aLead, someLeads } from "../../../../test/support/builders.ts";
import { type Attack, broken, type Fault, type Figures, type Findings } from "../../fault.ts";
import { makeAccount, makeKey } from "../../product/contents.ts";
import { type Asked, type Hammer, hammer } from "./hammer.ts";
import { attackCluster, beginImport, compareNodes, compareUsage, countsOf, errorOf, type Places } from "./places.ts";

const rows = 2_000;
/** A server sends its counts each second. */
const flushMs = 1_000;

export const clusterKills: Fault = {
  name: "cluster: kills",
  attack:
    "the leader is killed in an import through another node, while clients ask all servers, each second time while it waits for the others; kills",
  promise: "each lead once, the same on every node; the other nodes continue to serve; usage is the number of answers",
  small: 1,
  full: 100,
  waits: true,
  missing: missingRqlited,
  breakages: [
    broken(
      "a flush that is counted each time it is sent",
      "extensions/cluster/transaction.ts",
      "const remember = sql`INSERT INTO",
      "const remember = sql`INSERT OR REPLACE INTO",
      { times: 6 },
    ),
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
          const { ms, failed } = await killOnce(places, ++kills, attack.random, counting, expect);
          measure("imports of 2,000 leads", ms);
          await places.untilServing(watch.secret);
          await compareNodes(places, 3 + rows * kills, `after kill ${kills}`, expect);
          const said = `after kill ${kills} other nodes answered ${failed.length} times with ${[...new Set(failed)]}`;
          return failed.length === 0 ? [] : [said];
        },
        async end() {
          const asked = await counting.end();
          await places.untilServing(watch.secret);
          // A client that stops waiting does not know whether its request was answered.
          const mayCount = (status: number) => status === 0;
          const answered = await compareUsage(places.all[0], counted, asked, mayCount, expect);
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
  // Each second leader is killed while it waits for the others: what it has sent is committed, but its server does not know.
  const isWaiting = turn % 2 === 0;
  if (isWaiting) for (const { engine } of [local, other]) engine.kill("SIGSTOP");
  if (isWaiting) await Bun.sleep(flushMs);
  const killedMs = performance.now();
  await leader.kill();
  for (const { engine } of [local, other]) engine.kill("SIGCONT");
  await Bun.sleep(random.below(2_000));
  await leader.restart();
  const ended = await importing;
  const ms = performance.now() - beginMs;
  expect(ended.status === 0, () => `import ${turn} ${errorOf(ended)}`);
  const { imported } = countsOf(ended);
  expect(imported === rows, () => `import ${turn} counted ${imported} of ${rows} leads`);
  const isServing = (one: Asked) => isWaiting || one.of === leader || one.atMs < killedMs || one.status === 200;
  const failed = counting.asked.filter((one) => !isServing(one));
  return { ms, failed: failed.map(({ status }) => status) };
}
