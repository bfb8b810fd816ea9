/** Keys that clients use on three nodes are revoked, first without other writes, then during imports. */
import { linesOf } from "../../../../test/extensions/cluster/cluster.ts";
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { aLead, someLeads } from "../../../../test/support/builders.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { type Key, makeAccount, makeKey } from "../../product/contents.ts";
import { hammer, keysFor, lateInEach, servedAfter } from "./hammer.ts";
import { attackCluster, leadsOf, type Places, untilTrue } from "./places.ts";

const rows = 20_000;

export const clusterRevocations: Fault = {
  name: "cluster: revocations",
  attack: "a key that clients use on three nodes is revoked, the second half of them during imports; revocations",
  promise: "no request sent after the command returned is served by any node",
  small: 2,
  full: 200,
  waits: true,
  missing: missingRqlited,
  breakages: [
    {
      name: "a server that does not look for what others wrote",
      times: 1,
      patches: [{ file: "src/api/auth.ts", from: "databaseVersion !== knownVersion || ", to: "" }],
    },
  ],
  run,
};

function run(attack: Attack): Promise<Figures> {
  return attackCluster(
    attack,
    (store) => {
      const account = makeAccount(store, "acme", someLeads(3));
      makeAccount(store, "birch");
      return { watch: makeKey(store, account), nextKey: keysFor(attack.times, () => makeKey(store, account)) };
    },
    async ({ places, made: { watch, nextKey }, broken, expect, measure }) => {
      const importing = createImporting(places);
      await places.untilServing(watch.secret);
      return {
        async take(turn) {
          const how = turn <= attack.times / 2 ? "idle" : "during an import";
          const late = await lateInEach(async () => {
            if (how === "during an import") await importing.untilStarted();
            const { name, lateMs, ms, stderr } = await revoke(places, nextKey(), turn);
            const which = `revocation ${turn} (${how}, next to ${name})`;
            expect(lateMs.length === 0, () => `${which}: served ${lateMs.join(", ")} ms after it`);
            measure(how, ms);
            // The command names a node that did not confirm the revocation in time.
            return stderr === "" || broken.length > 0 ? [] : [`${which} printed: ${stderr}`];
          });
          for (const what of late) expect(false, () => what);
        },
        async end() {
          await importing.end();
          return {};
        },
      };
    },
  );
}

/** Revokes a key next to each node in turn. */
async function revoke(places: Places, key: Key, turn: number) {
  const { node, admin } = places.all[turn % 3] ?? places.all[0];
  const hammering = hammer(places.all, key.secret);
  await hammering.untilServed();
  const beginMs = performance.now();
  const { status, stderr } = await admin(["key", "revoke", key.id]);
  const returnedMs = performance.now();
  await Bun.sleep(500);
  const asked = await hammering.end();
  if (status !== 0) throw new Error(`revoking ended with ${status}: ${stderr}`);
  return { name: node.name, lateMs: servedAfter(asked, returnedMs), ms: returnedMs - beginMs, stderr };
}

/** Imports into another account, next to each node in turn, one after the other. */
function createImporting(places: Places) {
  let running: Promise<void> | null = null;
  let turn = 0;

  function begin(): void {
    const { admin } = places.all[turn++ % 3] ?? places.all[0];
    const text = linesOf(Array.from({ length: rows }, () => aLead()));
    running = admin(["lead", "import", "birch", "-", "--create-pixels"], text).then(({ status, stderr }) => {
      running = null;
      if (status !== 0) throw new Error(`an import ended with ${status}: ${stderr}`);
    });
  }

  return {
    /** Waits until leads are being imported. */
    untilStarted: () =>
      untilTrue("an import runs", 60_000, async () => {
        if (running === null) begin();
        const before = await leadsOf(places.all[0]);
        await Bun.sleep(100);
        return running !== null && (await leadsOf(places.all[0])) > before;
      }),
    async end() {
      await running;
    },
  };
}
