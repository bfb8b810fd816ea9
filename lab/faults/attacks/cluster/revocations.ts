/** Keys are revoked that clients use on three nodes, first at rest, then amid imports. */

import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { aLead, someLeads } from "../../../../test/support/builders.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { type Key, makeAccount, makeKey } from "../../product/contents.ts";
import { hammer, servedAfter, spread } from "./hammer.ts";
import { keysFor, lateInEach } from "./late.ts";
import { leadsOf, type Place, type Places, startPlaces } from "./places.ts";

const rows = 20_000;

export const clusterRevocations: Fault = {
  name: "cluster: revocations",
  attack: "a key that clients use on three nodes is revoked, the second half of them amid imports; revocations",
  promise: "no request sent after the command returned is served by any node",
  small: 2,
  full: 200,
  waits: true,
  missing: missingRqlited,
  breakages: [
    {
      name: "a server that does not look for what others wrote",
      times: 1,
      patches: [{ file: "src/api/cache.ts", from: "if (databaseVersion !== knownVersion) clear();", to: "" }],
    },
  ],
  run,
};

async function run({ build, folder, times, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const { places, made } = await startPlaces(build, folder, (store) => {
    const account = makeAccount(store, "acme", someLeads(3));
    makeAccount(store, "birch");
    return Array.from({ length: keysFor(times) + 1 }, () => makeKey(store, account));
  });
  const [watch, ...keys] = made;
  const tookMs: Record<"at rest" | "amid an import", number[]> = { "at rest": [], "amid an import": [] };
  const importing = createImporting(places);
  let done = 0;
  try {
    if (watch !== undefined) await places.untilServing(watch.secret);
    for (; done < times && goesOn(); progress(++done)) {
      const how = done < times / 2 ? "at rest" : "amid an import";
      const late = await lateInEach(async () => {
        if (how === "amid an import") await importing.untilUnderWay();
        const key = keys.pop();
        if (key === undefined) throw new Error("there is a key for each try");
        const { place, lateMs, ms, said } = await revoke(places, key, done);
        const which = `revocation ${done + 1} (${how}, beside ${place.node.name})`;
        expect(lateMs.length === 0, () => `${which}: served ${lateMs.join(", ")} ms after it`);
        tookMs[how].push(ms);
        // It names a node that has not shown the revocation in time.
        return said === "" || broken.length > 0 ? [] : [`${which} said: ${said}`];
      });
      for (const what of late) expect(false, () => what);
    }
    await importing.end();
  } finally {
    await places.end();
  }
  return { done, broken, figures: Object.fromEntries(Object.entries(tookMs).map(([how, ms]) => [how, spread(ms)])) };
}

/** Each node in turn is the one beside. */
async function revoke(places: Places, key: Key, turn: number) {
  const place = places.all[turn % 3] ?? places.all[0];
  const hammering = hammer(places.all, key.secret);
  await hammering.untilServed();
  const begunMs = performance.now();
  const { status, stderr: said } = await places.admin(place, ["key", "revoke", key.id]);
  const returnedMs = performance.now();
  await Bun.sleep(500);
  const asked = await hammering.end();
  if (status !== 0) throw new Error(`revoking ended with ${status}: ${said}`);
  return { place, lateMs: servedAfter(asked, returnedMs), ms: returnedMs - begunMs, said };
}

/** An import of its own account, beside the leader's neighbours in turn; another one begins where it has ended. */
function createImporting(places: Places) {
  let running: { readonly place: Place; readonly over: Promise<void> } | null = null;
  let turn = 0;

  function begin(): void {
    const place = places.all[turn++ % 3] ?? places.all[0];
    const text = Array.from({ length: rows }, () => JSON.stringify(aLead())).join("\n");
    const over = places
      .admin(place, ["lead", "import", "birch", "-", "--create-pixels"], text)
      .then(({ status, stderr }) => {
        running = null;
        if (status !== 0) throw new Error(`an import ended with ${status}: ${stderr}`);
      });
    running = { place, over };
  }

  return {
    /** Waits until leads come in. */
    async untilUnderWay() {
      for (const endMs = performance.now() + 60_000; performance.now() < endMs; await Bun.sleep(20)) {
        if (running === null) begin();
        const before = await leadsOf(places.all[0]);
        await Bun.sleep(100);
        if (running !== null && (await leadsOf(places.all[0])) > before) return;
      }
      throw new Error("no import came under way");
    },
    async end() {
      await running?.over;
    },
  };
}
