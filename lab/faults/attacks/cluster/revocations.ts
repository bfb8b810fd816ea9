/** Keys are revoked that clients use on three nodes, first at rest, then amid imports. */
import { aLead, someLeads } from "../../../../test/builders.ts";
import { missingRqlited } from "../../../cluster/nodes.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { type Key, makeAccount, makeKey } from "../../product/contents.ts";
import { hammer, servedAfter, spread } from "./hammer.ts";
import { leadsOf, type Place, type Places, startPlaces } from "./places.ts";

const rows = 20_000;

export const clusterRevocations: Fault = {
  name: "cluster: revocations",
  attack: "a key that clients use on three nodes is revoked, the second half of them amid imports; revocations",
  held: "no request sent after the command returned is served by any node",
  small: 2,
  full: 200,
  waits: true,
  missing: missingRqlited,
  breakages: [
    {
      name: "a server that does not look for what others wrote",
      times: 1,
      patches: [{ file: "src/rqlite/served-store.ts", from: "    opening.reader.refresh();\n", to: "" }],
    },
  ],
  run,
};

async function run({ build, folder, times, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const { places, made } = await startPlaces(build, folder, (store) => {
    const account = makeAccount(store, "acme", someLeads(3));
    makeAccount(store, "birch");
    return Array.from({ length: times + 1 }, () => makeKey(store, account));
  });
  const [watch, ...keys] = made;
  const tookMs: Record<"at rest" | "amid an import", number[]> = { "at rest": [], "amid an import": [] };
  const importing = createImporting(places);
  let done = 0;
  try {
    if (watch !== undefined) await places.untilServing(watch.secret);
    for (const [turn, key] of keys.entries()) {
      if (!goesOn()) break;
      const how = turn < times / 2 ? "at rest" : "amid an import";
      if (how === "amid an import") await importing.untilUnderWay();
      const { place, lateMs, ms, said, served } = await revoke(places, key, turn);
      const which = `revocation ${turn + 1} (${how}, beside ${place.node.name})`;
      expect(served, () => `${which}: the key was never served, so nothing was shown`);
      expect(said === "", () => `${which} said: ${said}`);
      expect(lateMs.length === 0, () => `${which}: served ${lateMs.join(", ")} ms after it`);
      tookMs[how].push(ms);
      progress((done = turn + 1));
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
  await Bun.sleep(200);
  const begunMs = performance.now();
  const { status, stderr } = await places.admin(place, ["key", "revoke", key.id]);
  const returnedMs = performance.now();
  await Bun.sleep(500);
  const asked = await hammering.end();
  const said = status === 0 ? stderr : `it ended with ${status}: ${stderr}`;
  const served = places.all.every((one) => asked.some((request) => request.place === one && request.status === 200));
  return { place, lateMs: servedAfter(asked, returnedMs), ms: returnedMs - begunMs, said, served };
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
