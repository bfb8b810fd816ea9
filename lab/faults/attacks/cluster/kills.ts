/** Leaders are killed during imports and under load: nothing that was counted is lost or stored twice. */
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { someLeads } from "../../../../test/support/builders.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { attackCluster, beginImport, compareNodes, compareUsage, expectDone, hammer } from "./places.ts";

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
      "extensions/cluster/transactions.ts",
      "sql`INSERT INTO cluster_writes",
      "sql`INSERT OR REPLACE INTO cluster_writes",
      { times: 6 },
    ),
  ],
  run,
};

function run(attack: Attack): Promise<Figures> {
  return attackCluster(attack, { leads: 3, keys: 2 }, ({ places, keys, random, expect, measure }) => {
    const [watch, counted = watch] = keys;
    const counting = hammer(places.all, counted, 5);
    let kills = 0;
    return {
      /** One import and one kill. */
      async take() {
        const which = `import ${++kills}`;
        const [local, other] = await places.followers();
        const leader = await places.leader();
        const { importing, beginMs } = await beginImport(local, other, someLeads(rows));
        await Bun.sleep(random.below(200));
        // Each second leader is killed while it waits for the others: what it has sent is committed, but its server does not know.
        const paused = kills % 2 === 0 ? [local, other] : [];
        for (const { engine } of paused) engine.kill("SIGSTOP");
        await Bun.sleep(paused.length > 0 ? flushMs : 0);
        const killedMs = performance.now();
        await leader.kill();
        for (const { engine } of paused) engine.kill("SIGCONT");
        await Bun.sleep(random.below(2_000));
        await leader.restart();
        const { imported } = expectDone(which, await importing, expect);
        measure("imports of 2,000 leads", performance.now() - beginMs);
        expect(imported === rows, () => `${which} counted ${imported} of ${rows} leads`);
        const served = counting.done.filter(({ of, atMs }) => paused.length === 0 && of !== leader && atMs >= killedMs);
        const failed = served.map(({ status }) => status).filter((status) => status !== 200);
        await places.untilServing(watch);
        await compareNodes(places, 3 + rows * kills, `after kill ${kills}`, expect);
        const said = `after kill ${kills} other nodes answered ${failed.length} times with ${[...new Set(failed)]}`;
        return failed.length === 0 ? [] : [said];
      },
      async end() {
        // A client that stops waiting does not know whether its request was answered.
        const mayCount = (status: number) => status === 0;
        const answered = await compareUsage(places.all[0], counted, await counting.end(), mayCount, expect);
        return { "requests answered": answered };
      },
    };
  });
}
