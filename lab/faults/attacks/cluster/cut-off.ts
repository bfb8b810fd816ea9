/**
 * A node loses the others while a key is revoked: its cable is pulled, it stands still, or it starts anew. It falls silent,
 * comes back by itself, and never serves what was revoked meanwhile.
 */
import { statSync } from "node:fs";
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { someLeads } from "../../../../test/support/builders.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { type Key, makeAccount, makeKey } from "../../product/contents.ts";
import { hammer, servedAfter, spread } from "./hammer.ts";
import { keysFor, lateInEach } from "./late.ts";
import { missingNamespaces } from "./network.ts";
import { type Place, type Places, startPlaces, statusAt } from "./places.ts";

/** What is done to a node, by turns. The last kind is left without the log, and is sent a file. */
const troubles = [
  "follower stood still",
  "leader cut off",
  "follower cut off",
  "node restarted",
  "snapshot sent",
] as const;
type Trouble = (typeof troubles)[number];

/** As docs/cluster.md has it, but for the time that any command takes to begin. */
const promisedMs = { revoked: 10_000, silent: 6_000, back: 10_000 };
const promised = ["revoked", "silent", "back"] as const;

export const clusterCutOff: Fault = {
  name: "cluster: cut off",
  attack: "a key is revoked while a node is cut off, stands still or restarts; revocations",
  promise: "revoked in 10 s, that node silent in 6 s; it serves within 10 s of coming back, and never the revoked key",
  small: 2,
  full: 100,
  waits: true,
  missing: missingRqlited,
  breakages: [
    {
      name: "a revoke that does not wait",
      times: 1,
      patches: [
        {
          file: "extensions/cluster/database.ts",
          from: "await waitForAll(node, file, id, await listing);",
          to: "waitForAll === null && listing === null ? [] : [];",
        },
      ],
    },
    {
      name: "a server without a lease",
      times: 1,
      patches: [
        {
          file: "extensions/cluster/lease/leased-file.ts",
          from: "if (!lease.isValid()) throw new",
          to: "if (lease === null) throw new",
        },
      ],
    },
  ],
  run,
};

async function run({ build, folder, times, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const { places, made } = await startPlaces(
    build,
    folder,
    (store) => {
      const account = makeAccount(store, "acme", someLeads(3));
      const keys = Array.from({ length: keysFor(times) }, () => makeKey(store, account));
      return { watch: makeKey(store, account), keys };
    },
    "three machines",
  );
  const { watch, keys } = made;
  const tookMs = new Map<string, number[]>();
  let done = 0;
  try {
    for (; done < times && goesOn(); progress(++done)) {
      const trouble = troubles[done % troubles.length] ?? "follower stood still";
      const which = `revocation ${done + 1} (${trouble})`;
      const late = await lateInEach(async () => {
        await places.untilServing(watch.secret);
        const key = keys.pop();
        if (key === undefined) throw new Error("there is a key for each try");
        const seen = await revokeAmid(places, { key, watch, trouble });
        expect(seen.lateMs.length === 0, () => `${which}: served ${seen.lateMs.join(", ")} ms after it`);
        expect(seen.said.includes(seen.victim), () => `${which} did not name ${seen.victim}: ${seen.said}`);
        for (const what of promised) note(tookMs, `${trouble}, ${what}`, seen[what]);
        return broken.length > 0 ? [] : slowerThanPromised(seen);
      });
      for (const what of late) expect(false, () => `${which}: ${what}`);
    }
  } finally {
    await places.end();
  }
  const where = missingNamespaces() === null ? "network namespaces" : "SIGSTOP: no namespaces here";
  return {
    done,
    broken,
    figures: { "cut by": where, ...Object.fromEntries([...tookMs].map(([what, ms]) => [what, spread(ms)])) },
  };
}

function note(tookMs: Map<string, number[]>, what: string, ms: number): void {
  tookMs.set(what, [...(tookMs.get(what) ?? []), ms]);
}

/** What took longer than docs/cluster.md says. */
function slowerThanPromised(seen: Readonly<Record<(typeof promised)[number] | "startMs", number>>): string[] {
  return promised.flatMap((what) => {
    const most = promisedMs[what] + (what === "revoked" ? seen.startMs : 0);
    return seen[what] <= most ? [] : [`${what} after ${Math.round(seen[what])} ms`];
  });
}

async function revokeAmid(places: Places, { key, watch, trouble }: { key: Key; watch: Key; trouble: Trouble }) {
  const [follower, other] = await places.followers();
  const leader = await places.leader();
  const victim = trouble === "leader cut off" ? leader : follower;
  const startMs = await timeOf(async () => void (await places.admin(other, ["key", "list", "acme"])));
  const hammering = hammer(places.all, key.secret);
  await hammering.untilServed();
  const begunMs = performance.now();
  begin(trouble, victim);
  const silence = untilSilent(victim, watch, begunMs);
  const { status, stderr: said } = await places.admin(other, ["key", "revoke", key.id]);
  const returnedMs = performance.now();
  if (status !== 0) throw new Error(`revoking ended with ${status}: ${said}`);
  const silent = await silence;
  const { ino } = statSync(victim.node.path);
  if (trouble === "snapshot sent") await cutLogs(places, victim);
  await restore(places, trouble, victim);
  const back = await timeOf(() => untilBack(victim, watch));
  if (trouble === "snapshot sent" && statSync(victim.node.path).ino === ino) throw new Error("no snapshot was sent");
  const asked = await hammering.end();
  const lateMs = servedAfter(asked, returnedMs);
  return { victim: victim.node.name, said, lateMs, startMs, revoked: returnedMs - begunMs, silent, back };
}

function begin(trouble: Trouble, { engine, site }: Place): void {
  if (trouble === "node restarted") engine.kill("SIGKILL");
  else if (trouble === "follower stood still" || site === null) engine.kill("SIGSTOP");
  else site.cut();
}

async function restore(places: Places, trouble: Trouble, place: Place): Promise<void> {
  if (trouble === "node restarted") await places.restart(place);
  else if (trouble === "follower stood still" || place.site === null) place.engine.kill("SIGCONT");
  else place.site.join();
}

/** The others forget what the victim has not heard: it has to be sent a whole file. */
async function cutLogs(places: Places, victim: Place): Promise<void> {
  for (const place of places.all.filter((one) => one !== victim)) {
    // Refused where it has just made one by itself; what is counted goes on coming in.
    for (const endMs = performance.now() + 20_000; performance.now() < endMs; await Bun.sleep(100)) {
      if ((await fetch(`${place.node.url}/snapshot?trailing_logs=1`, { method: "POST" })).ok) break;
    }
  }
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}

/** How long after a moment the server beside serves nobody, and says so to the balancer. */
async function untilSilent(place: Place, { secret }: Key, sinceMs: number): Promise<number> {
  while (performance.now() - sinceMs < 20_000) {
    const headers = { Authorization: `Bearer ${secret}` };
    const answer = await fetch(`${place.server.url}/api/v1/pixels`, { headers });
    const isRefused = answer.status === 500 && (await answer.text()).includes('"query_failed"');
    if (isRefused && (await fetch(`${place.server.url}/healthz`)).status === 503) return performance.now() - sinceMs;
    await Bun.sleep(20);
  }
  return Number.POSITIVE_INFINITY;
}

async function untilBack(place: Place, { secret }: Key): Promise<void> {
  const endMs = performance.now() + 30_000;
  while ((await statusAt(place, secret)) !== 200) {
    if (performance.now() > endMs) throw new Error(`${place.node.name} does not serve again`);
    await Bun.sleep(20);
  }
}
