/** The disk of one node is full while a key is revoked, and has room again later. Each node has a small disk of its own. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startNode } from "../../../../extensions/cluster/local-cluster.ts";
import { untilReady } from "../../../../extensions/cluster/members.ts";
import { missingRqlited, printedBy, rqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { someLeads } from "../../../../test/support/builders.ts";
import { missingHere } from "../../../../test/support/needing.ts";
import { fill } from "../../../../test/support/small-disk.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { type Key, makeAccount, makeKey } from "../../product/contents.ts";
import { type Asked, hammer, servedAfter, spread } from "./hammer.ts";
import { keysFor } from "./late.ts";
import { type Place, type Places, startPlaces, statusAt } from "./places.ts";

/** A node with less room than this could not start: its log alone takes some megabytes. */
const diskOptions = "size=48m,mode=755";
const victims = ["leader", "follower"] as const;
/** A command answers within 6 s if a node is unreachable. A leader with a full disk has to hand its role over first. */
const promisedMs = { silent: 10_000 };

export const clusterFullDisk: Fault = {
  name: "cluster: full disk",
  attack: "the disk of the leader or of a follower is full while a key is revoked, then has room again; revocations",
  promise: "0 requests accepted after revoke returned, 0 counts lost, and the wrong node is silent within 10 s",
  small: 2,
  full: 40,
  waits: true,
  missing: () => missingRqlited() ?? missingHere("mount"),
  breakages: [
    {
      name: "a server that trusts the leader alone",
      isSlow: true,
      times: 4,
      patches: [
        {
          file: "extensions/cluster/lease/lease.ts",
          from: 'isRefuted: count("different") > 0 && count("different") * 2 >= voters,',
          to: "isRefuted: false,",
        },
        {
          file: "extensions/cluster/lease/lease.ts",
          from: 'isConfirmed: (contained + count("ahead")) * 2 > voters,',
          to: "isConfirmed: true,",
        },
        {
          file: "extensions/cluster/lease/lease.ts",
          from: "isComplete: contained * 2 > voters,",
          to: "isComplete: true,",
        },
        {
          file: "extensions/cluster/lease/leased-file.ts",
          from: "revision: Math.max(...all.map((state) => state.revision)),",
          to: "revision: leader.revision,",
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
    diskOptions,
  );
  const { watch, keys } = made;
  const tookMs = new Map<string, number[]>();
  const note = (what: string, ms: number) => tookMs.set(what, [...(tookMs.get(what) ?? []), ms]);
  const answered = { least: 0, most: 0 };
  let rebuilt = 0;
  let done = 0;
  try {
    for (; done < times && goesOn(); progress(++done)) {
      const kind = victims[done % victims.length] ?? "leader";
      const which = `revocation ${done + 1} (disk of the ${kind})`;
      await places.untilServing(watch.secret);
      const key = keys.pop();
      if (key === undefined) throw new Error("there is a key for each turn");
      const seen = await revokeAmid(places, { kind, key, watch });
      expect(seen.refusal === "", () => `${which}: revoke failed: ${seen.refusal}`);
      expect(seen.lateMs.length === 0, () => `${which}: served ${seen.lateMs.join(", ")} ms after it`);
      if (seen.silentMs !== null) {
        const { silentMs } = seen;
        expect(silentMs <= promisedMs.silent, () => `${which}: the node served for ${Math.round(silentMs)} ms`);
        note(`${kind}, silent`, silentMs);
      }
      note(`${kind}, revoked`, seen.revokedMs);
      answered.least += seen.counted.least;
      answered.most += seen.counted.most;
      if (seen.isRebuilt) rebuilt++;
    }
    await places.untilServing(watch.secret);
    const counted = await countsOf(places, watch, answered.least);
    expect(counted >= answered.least, () => `${answered.least} requests were answered, but ${counted} are counted`);
    expect(counted <= answered.most, () => `${answered.most} requests were sent, but ${counted} are counted`);
  } finally {
    await places.end();
  }
  const figures = Object.fromEntries([...tookMs].map(([what, ms]) => [what, spread(ms)]));
  return { done, broken, figures: { ...figures, "requests counted": answered.least, "nodes rebuilt": rebuilt } };
}

interface Turn {
  readonly kind: (typeof victims)[number];
  readonly key: Key;
  /** A key that is never revoked, whose requests are counted. */
  readonly watch: Key;
}

async function revokeAmid(places: Places, { kind, key, watch }: Turn) {
  const [follower, other] = await places.followers();
  const victim = kind === "leader" ? await places.leader() : follower;
  const [revoked, counted] = [hammer(places.all, key.secret), hammer(places.all, watch.secret, 10)];
  await Promise.all([revoked.untilServed(), counted.untilServed()]);
  const startMs = performance.now();
  fill(victim.node.folder);
  const silence = untilSilent(victim, counted.asked, revoked.asked, startMs);
  const { status, stderr } = await places.admin(other, ["key", "revoke", key.id]);
  const returnedMs = performance.now();
  const silentMs = await silence;
  rmSync(join(victim.node.folder, "rest"), { force: true });
  const isRebuilt = !(await isBack(victim, watch)) && (await rebuild(places, victim));
  const asked = await counted.end();
  const lateMs = servedAfter(await revoked.end(), returnedMs);
  const least = asked.filter((one) => one.status === 200).length;
  const refusal = status === 0 ? "" : stderr.trim();
  return {
    refusal,
    lateMs,
    silentMs,
    revokedMs: returnedMs - startMs,
    isRebuilt,
    counted: { least, most: asked.length },
  };
}

/**
 * The time from a moment until the server of a place does not serve any more; null if it knows the revocation, because its
 * node found room for it.
 */
async function untilSilent(place: Place, asked: readonly Asked[], revoked: readonly Asked[], sinceMs: number) {
  const isAnswered = (all: readonly Asked[], status: number) =>
    all.findLast((one) => one.place === place && one.atMs > sinceMs)?.status === status;
  for (const endMs = sinceMs + 60_000; performance.now() < endMs; await Bun.sleep(20)) {
    if (isAnswered(asked, 500)) return performance.now() - sinceMs;
    if (isAnswered(revoked, 401)) return null;
  }
  return Number.POSITIVE_INFINITY;
}

/** Whether a node serves again by itself, because it only lagged. */
async function isBack(place: Place, { secret }: Key): Promise<boolean> {
  for (const endMs = performance.now() + 10_000; performance.now() < endMs; await Bun.sleep(50)) {
    if ((await statusAt(place, secret)) === 200) return true;
  }
  return false;
}

/** Starts a node anew with an empty folder, as docs/cluster.md says. */
async function rebuild(places: Places, place: Place): Promise<true> {
  place.engine.kill("SIGKILL");
  await place.engine.exited;
  // The folder is a disk of its own, which stays.
  for (const name of readdirSync(place.node.folder)) rmSync(join(place.node.folder, name), { recursive: true });
  const others = places.all.filter((one) => one !== place).map(({ node }) => node);
  place.engine = startNode(rqlited, place.node, { others });
  await untilReady(place.node);
  return true;
}

/** The requests of a key that are counted, once there are enough of them. */
async function countsOf({ all, admin }: Places, { id }: Key, least: number): Promise<number> {
  let counted = 0;
  for (const endMs = performance.now() + 30_000; performance.now() < endMs && counted < least; await Bun.sleep(500)) {
    const keys = await printedBy<{ id: string; requests_this_month: number }[]>(() =>
      admin(all[0], ["key", "list", "acme", "--json"]),
    );
    counted = keys.find((key) => key.id === id)?.requests_this_month ?? 0;
  }
  return counted;
}
