/** Keys that clients use on three nodes are revoked while the cluster is idle, and while a node has a fault. */
import { statSync } from "node:fs";
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { holdsWithin } from "../../../../test/support/eventually.ts";
import { missingHere } from "../../../../test/support/needing.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import type { Key } from "../../product/contents.ts";
import { missingNamespaces } from "./network.ts";
import {
  attackCluster,
  compareUsage,
  expectDone,
  hammer,
  type Place,
  type Places,
  type Setup,
  statusAt,
  untilTrue,
} from "./places.ts";
import { fullDisks, idle, losses, quiet, type Trouble } from "./troubles.ts";

export const clusterRevocations: Fault = {
  name: "cluster: revocations",
  attack:
    "a key is revoked while the cluster is idle, during an import, and while a node is cut off, paused, or restarted; revocations",
  promise:
    "no request sent after the command returned is served by any node; revoked in 10 s, no answer from a lost node after 6 s; " +
    "it serves again within 10 s",
  small: 5,
  full: 300,
  waits: true,
  missing: missingRqlited,
  breakages: [
    broken(
      "a server that does not look for what others wrote",
      "src/api/auth.ts",
      "databaseVersion !== knownVersion || ",
      "",
      { times: 1 },
    ),
    broken(
      "a revoke that does not wait",
      "extensions/cluster/database.ts",
      "await waitForAll(node, id, members, [...members, ...listServers(file.current().connection)]);",
      "waitForAll === null && members === null ? [] : [];",
      { times: 1 },
    ),
    broken(
      "a server without a lease",
      "extensions/cluster/lease/leased-file.ts",
      "if (!lease.isValid()) throw new",
      "if (lease === null) throw new",
      { times: 1 },
    ),
  ],
  async run(attack) {
    // The limits in docs/cluster.md.
    const maxMs = { revoked: 10_000, silent: 6_000, back: 10_000 };
    const [paused, leaderCutOff, restarted, ...more] = losses;
    const troubles = [paused, leaderCutOff, restarted, ...quiet, ...more].filter((trouble) => trouble !== undefined);
    const figures = await revokeOften(attack, { troubles, maxMs, on: "three machines" });
    const how = missingNamespaces() === null ? "network namespaces" : "SIGSTOP: no namespaces here";
    return { ...figures, "cut by": how };
  },
};

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
          from: 'const isComplete = relationOf(leading, shown) !== "ahead" && count("ahead") === 0;',
          to: 'const isComplete = relationOf(leading, shown) !== "ahead";',
        },
        {
          file: "extensions/cluster/lease/lease.ts",
          from: 'isReached: isComplete && (count("contained") + Number(isVoter)) * 2 > voters,',
          to: "isReached: isComplete && isVoter && voters > 0,",
        },
      ],
    },
  ],
  run: (attack) =>
    // A leader with a full disk has to hand over its role first. A node with a smaller disk could not start: its log alone
    // takes some megabytes.
    revokeOften(attack, { troubles: fullDisks, maxMs: { silent: 10_000 }, on: "size=48m,mode=755", isCounted: true }),
};

interface Plan extends Pick<Setup, "on"> {
  /** The troubles, in turn. */
  readonly troubles: readonly Trouble[];
  /** The limits, without the time that any command takes to start. */
  readonly maxMs?: Readonly<Record<string, number>>;
  /** Requests of another key are counted. */
  readonly isCounted?: true;
}

function revokeOften(attack: Attack, { troubles, maxMs = {}, on, isCounted }: Plan): Promise<Figures> {
  // Two that are not revoked, and enough for three tries of each turn.
  const setup = { leads: 3, keys: 2 + attack.times * 3, ...(on && { on }) };
  return attackCluster(attack, setup, ({ places, keys: [watch, ...keys], broken, expect, measure }) => {
    const takeKey = () => keys.pop() ?? watch;
    const counted = takeKey();
    const counting = isCounted ? hammer(places.all, counted, 10) : null;
    return {
      async take(turn) {
        const trouble = troubles[(turn - 1) % troubles.length] ?? idle;
        const { victim, revoked, lateMs, tookMs } = await revokeDuring(trouble, places, turn, takeKey(), watch);
        const which = `revocation ${turn} (${trouble.name})`;
        expectDone(which, revoked, expect);
        expect(lateMs.length === 0, () => `${which}: served ${lateMs.join(", ")} ms after it`);
        const isNamed = victim === null || !trouble.isUnreachable || revoked.stderr.includes(victim);
        expect(isNamed, () => `${which} did not name ${victim}: ${revoked.stderr}`);
        for (const [what, ms] of Object.entries(tookMs)) measure(`${trouble.name}, ${what}`, ms);
        if (broken.length > 0) return [];
        const late = Object.entries(tookMs).filter(([what, ms]) => ms > (maxMs[what] ?? Infinity));
        const told = late.map(([what, ms]) => `${which}: ${what} after ${Math.round(ms)} ms`);
        // The command names a node that did not confirm the revocation in time.
        return victim === null && revoked.stderr !== "" ? [...told, `${which} printed: ${revoked.stderr}`] : told;
      },
      async end() {
        if (counting === null) return {};
        const asked = await counting.end();
        return { "requests counted": await compareUsage(places.all[0], counted, asked, () => true, expect) };
      },
    };
  });
}

/** Revokes a key next to a node without trouble: next to each node in turn if none has any. */
async function revokeDuring(trouble: Trouble, places: Places, turn: number, key: Key, watch: Key) {
  const [follower, other] = await places.followers();
  const victim = trouble.victim === "leader" ? await places.leader() : trouble.victim === null ? null : follower;
  const place = victim === null ? (places.all[turn % 3] ?? other) : other;
  const startMs = performance.now();
  await place.admin(["key", "list", "acme"]);
  const commandMs = performance.now() - startMs;
  await places.untilServing(key);
  const hammering = hammer(places.all, key);
  const before = victim === null ? 0 : statSync(victim.node.path).ino;
  const end = await trouble.begin(victim ?? place, places, watch);
  const beginMs = performance.now();
  const silence = victim === null ? null : untilSilent(victim, key, watch, beginMs);
  const revoked = await place.admin(["key", "revoke", key.id]);
  const returnedMs = performance.now();
  const silent = await silence;
  await Bun.sleep(victim === null ? 500 : 0);
  await end();
  const endMs = performance.now();
  if (victim !== null) {
    await untilTrue(`${victim.node.name} serves again`, 30_000, async () => {
      const hasFile = !trouble.sendsFile || statSync(victim.node.path).ino !== before;
      return hasFile && (await statusAt(victim, watch)) === 200;
    });
  }
  const back = victim === null ? {} : { back: performance.now() - endMs };
  const served = (await hammering.end()).filter(({ status, atMs }) => status === 200 && atMs > returnedMs);
  const lateMs = served.map(({ atMs }) => Math.round(atMs - returnedMs));
  const tookMs = { revoked: returnedMs - beginMs - commandMs, ...(silent === null ? {} : { silent }), ...back };
  return { victim: victim?.node.name ?? null, revoked, lateMs, tookMs };
}

/**
 * The time until a server serves nobody, and reports that to the load balancer; null if it knows the revocation, because its
 * node found space for it.
 */
async function untilSilent(victim: Place, key: Key, watch: Key, sinceMs: number): Promise<number | null> {
  const isSilent = async () =>
    (await statusAt(victim, watch)) === 500 && (await fetch(`${victim.server.url}/healthz`)).status === 503;
  let isKnown = false;
  const isOver = async () => (await isSilent()) || (isKnown = (await statusAt(victim, key)) === 401);
  if (!(await holdsWithin(60_000, isOver))) return Number.POSITIVE_INFINITY;
  return isKnown ? null : performance.now() - sinceMs;
}
