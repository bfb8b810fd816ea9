/** The disk of one node is full while a key is revoked, and has space again later. Each node has a small disk. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { untilReady } from "../../../../extensions/cluster/members.ts";
import { missingRqlited, printedBy, startNode } from "../../../../test/extensions/cluster/nodes.ts";
import { someLeads } from "../../../../test/support/builders.ts";
import { missingHere } from "../../../../test/support/needing.ts";
import { fill } from "../../../../test/support/small-disk.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { type Key, makeAccount, makeKey } from "../../product/contents.ts";
import { type Asked, hammer, keysFor, servedAfter } from "./hammer.ts";
import { attackCluster, errorOf, type Place, type Places, statusAt } from "./places.ts";

/** A node with a smaller disk could not start: its log alone takes some megabytes. */
const diskOptions = "size=48m,mode=755";
const victims = ["leader", "follower"] as const;
/** A leader with a full disk has to hand over its role first. */
const maxSilentMs = 10_000;

export const clusterFullDisk: Fault = {
  name: "cluster: full disk",
  attack: "the disk of the leader or of a follower is full while a key is revoked, then has room again; revocations",
  promise: "0 requests accepted after revoke returned, 0 counts lost, and that node stops serving within 10 s",
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

function run(attack: Attack): Promise<Figures> {
  return attackCluster(
    attack,
    (store) => {
      const account = makeAccount(store, "acme", someLeads(3));
      return { watch: makeKey(store, account), nextKey: keysFor(attack.times, () => makeKey(store, account)) };
    },
    ({ places, made: { watch, nextKey }, expect, measure }) => {
      const requests = { answered: 0, sent: 0 };
      let rebuilt = 0;
      return {
        async take(turn) {
          const kind = victims[(turn - 1) % victims.length] ?? "leader";
          const which = `revocation ${turn} (disk of the ${kind})`;
          await places.untilServing(watch.secret);
          const seen = await revokeWithFullDisk(kind, places, nextKey(), watch);
          expect(seen.revoked.status === 0, () => `${which}: revoke ${errorOf(seen.revoked)}`);
          expect(seen.lateMs.length === 0, () => `${which}: served ${seen.lateMs.join(", ")} ms after it`);
          const { silentMs } = seen;
          if (silentMs !== null) {
            expect(silentMs <= maxSilentMs, () => `${which}: the node served for ${Math.round(silentMs)} ms`);
            measure(`${kind}, silent`, silentMs);
          }
          measure(`${kind}, revoked`, seen.revokedMs);
          requests.answered += seen.asked.filter(({ status }) => status === 200).length;
          requests.sent += seen.asked.length;
          rebuilt += Number(seen.isRebuilt);
        },
        async end() {
          await places.untilServing(watch.secret);
          const { answered, sent } = requests;
          const counted = await countsOf(places.all[0], watch, answered);
          expect(counted >= answered, () => `${answered} requests were answered, but ${counted} are counted`);
          expect(counted <= sent, () => `${sent} requests were sent, but ${counted} are counted`);
          return { "requests counted": answered, "nodes rebuilt": rebuilt };
        },
      };
    },
    diskOptions,
  );
}

/** `watch` is a key that is never revoked, whose requests are counted. */
async function revokeWithFullDisk(kind: (typeof victims)[number], places: Places, key: Key, watch: Key) {
  const [follower, other] = await places.followers();
  const victim = kind === "leader" ? await places.leader() : follower;
  const [revoking, counting] = [hammer(places.all, key.secret), hammer(places.all, watch.secret, 10)];
  await Promise.all([revoking.untilServed(), counting.untilServed()]);
  const beginMs = performance.now();
  fill(victim.node.folder);
  const silence = untilSilent(victim, counting.asked, revoking.asked, beginMs);
  const revoked = await other.admin(["key", "revoke", key.id]);
  const returnedMs = performance.now();
  const silentMs = await silence;
  rmSync(join(victim.node.folder, "rest"), { force: true });
  const isRebuilt = !(await isBack(victim, watch));
  if (isRebuilt) await rebuild(places, victim);
  const asked = await counting.end();
  const lateMs = servedAfter(await revoking.end(), returnedMs);
  return { revoked, lateMs, silentMs, revokedMs: returnedMs - beginMs, isRebuilt, asked };
}

/** The time until a server stops serving; null if it knows the revocation, because its node found space for it. */
async function untilSilent(place: Place, asked: readonly Asked[], revoked: readonly Asked[], sinceMs: number) {
  const isAnswered = (all: readonly Asked[], status: number) =>
    all.findLast((one) => one.place === place && one.atMs > sinceMs)?.status === status;
  for (const endMs = sinceMs + 60_000; performance.now() < endMs; await Bun.sleep(20)) {
    if (isAnswered(asked, 500)) return performance.now() - sinceMs;
    if (isAnswered(revoked, 401)) return null;
  }
  return Number.POSITIVE_INFINITY;
}

/** Returns true if a node that only lagged serves again by itself. */
async function isBack(place: Place, { secret }: Key): Promise<boolean> {
  for (const endMs = performance.now() + 10_000; performance.now() < endMs; await Bun.sleep(50)) {
    if ((await statusAt(place, secret)) === 200) return true;
  }
  return false;
}

/** Starts a node with an empty folder, as docs/cluster.md describes. */
async function rebuild(places: Places, place: Place): Promise<void> {
  await place.kill();
  // The folder is the mounted disk, and remains.
  for (const name of readdirSync(place.node.folder)) rmSync(join(place.node.folder, name), { recursive: true });
  const others = places.all.filter((one) => one !== place).map(({ node }) => node);
  place.engine = startNode(place.node, { others });
  await untilReady(place.node);
}

/** The number of counted requests of a key, once it is high enough. */
async function countsOf({ admin }: Place, { id }: Key, least: number): Promise<number> {
  let counted = 0;
  for (const endMs = performance.now() + 30_000; performance.now() < endMs && counted < least; await Bun.sleep(500)) {
    const list = () => admin(["key", "list", "acme", "--json"]);
    const keys = await printedBy<{ id: string; requests_this_month: number }[]>(list);
    counted = keys.find((key) => key.id === id)?.requests_this_month ?? 0;
  }
  return counted;
}
