/**
 * A node loses the others while a key is revoked: its network is cut, it is paused, or it starts again. It stops serving,
 * serves again by itself, and never accepts the revoked key.
 */
import { statSync } from "node:fs";
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { someLeads } from "../../../../test/support/builders.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { type Key, makeAccount, makeKey } from "../../product/contents.ts";
import { hammer, keysFor, lateInEach, servedAfter } from "./hammer.ts";
import { missingNamespaces } from "./network.ts";
import { attackCluster, type Place, type Places, statusAt, untilTrue } from "./places.ts";

/** The troubles of a node, in turn. After the last one, the node needs a whole file, because the log was truncated. */
const troubles = ["follower paused", "leader cut off", "node restarted", "follower cut off", "snapshot sent"] as const;
type Trouble = (typeof troubles)[number];

/** The limits in docs/cluster.md, without the time that any command takes to start. */
const maxMs = { revoked: 10_000, silent: 6_000, back: 10_000 };
const promised = ["revoked", "silent", "back"] as const;

export const clusterCutOff: Fault = {
  name: "cluster: cut off",
  attack: "a key is revoked while a node is cut off, paused, or restarted; revocations",
  promise:
    "revoked in 10 s, no answer from that node after 6 s; it serves again within 10 s, and never the revoked key",
  small: 3,
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
          from: "await waitForAll(file, id, list, await listing);",
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

function run(attack: Attack): Promise<Figures> {
  return attackCluster(
    attack,
    (store) => {
      const account = makeAccount(store, "acme", someLeads(3));
      return { watch: makeKey(store, account), nextKey: keysFor(attack.times, () => makeKey(store, account)) };
    },
    ({ places, made: { watch, nextKey }, broken, expect, measure }) => ({
      async take(turn) {
        const trouble = troubles[(turn - 1) % troubles.length] ?? "follower paused";
        const which = `revocation ${turn} (${trouble})`;
        const late = await lateInEach(async () => {
          await places.untilServing(watch.secret);
          const seen = await revokeDuring(trouble, places, nextKey(), watch);
          expect(seen.lateMs.length === 0, () => `${which}: served ${seen.lateMs.join(", ")} ms after it`);
          expect(seen.stderr.includes(seen.victim), () => `${which} did not name ${seen.victim}: ${seen.stderr}`);
          for (const what of promised) measure(`${trouble}, ${what}`, seen[what]);
          if (broken.length > 0) return [];
          const isLate = (what: (typeof promised)[number]) =>
            seen[what] > maxMs[what] + (what === "revoked" ? seen.startMs : 0);
          return promised.filter(isLate).map((what) => `${what} after ${Math.round(seen[what])} ms`);
        });
        for (const what of late) expect(false, () => `${which}: ${what}`);
      },
      async end() {
        return { "cut by": missingNamespaces() === null ? "network namespaces" : "SIGSTOP: no namespaces here" };
      },
    }),
    "three machines",
  );
}

async function revokeDuring(trouble: Trouble, places: Places, key: Key, watch: Key) {
  const [follower, other] = await places.followers();
  const victim = trouble === "leader cut off" ? await places.leader() : follower;
  const startMs = await timeOf(async () => void (await other.admin(["key", "list", "acme"])));
  const hammering = hammer(places.all, key.secret);
  await hammering.untilServed();
  const beginMs = performance.now();
  begin(trouble, victim);
  const silence = untilSilent(victim, watch, beginMs);
  const { status, stderr } = await other.admin(["key", "revoke", key.id]);
  const returnedMs = performance.now();
  if (status !== 0) throw new Error(`revoking ended with ${status}: ${stderr}`);
  const silent = await silence;
  const { ino } = statSync(victim.node.path);
  if (trouble === "snapshot sent") await truncateLogs(places, victim);
  await end(trouble, victim);
  const back = await timeOf(() =>
    untilTrue(`${victim.node.name} serves again`, 30_000, async () => (await statusAt(victim, watch.secret)) === 200),
  );
  if (trouble === "snapshot sent" && statSync(victim.node.path).ino === ino) throw new Error("no snapshot was sent");
  const lateMs = servedAfter(await hammering.end(), returnedMs);
  return { victim: victim.node.name, stderr, lateMs, startMs, revoked: returnedMs - beginMs, silent, back };
}

function begin(trouble: Trouble, { engine, site }: Place): void {
  if (trouble === "node restarted") engine.kill("SIGKILL");
  else if (trouble === "follower paused" || site === null) engine.kill("SIGSTOP");
  else site.cut();
}

async function end(trouble: Trouble, { engine, site, restart }: Place): Promise<void> {
  if (trouble === "node restarted") await restart();
  else if (trouble === "follower paused" || site === null) engine.kill("SIGCONT");
  else site.join();
}

/** Removes the entries from the logs of the other nodes that the victim lacks, so that it needs a whole file. */
async function truncateLogs(places: Places, victim: Place): Promise<void> {
  for (const { node } of places.all.filter((one) => one !== victim)) {
    // A node that has just made a snapshot by itself refuses, until there is another write.
    await untilTrue("a snapshot", 20_000, async () => {
      return (await fetch(`${node.url}/snapshot?trailing_logs=1`, { method: "POST" })).ok;
    });
  }
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const beginMs = performance.now();
  await work();
  return performance.now() - beginMs;
}

/** The time until a server serves nobody, and reports that to the load balancer. */
async function untilSilent({ server }: Place, { secret }: Key, sinceMs: number): Promise<number> {
  while (performance.now() - sinceMs < 20_000) {
    const headers = { Authorization: `Bearer ${secret}` };
    const answer = await fetch(`${server.url}/api/v1/pixels`, { headers });
    const isRefused = answer.status === 500 && (await answer.text()).includes('"query_failed"');
    if (isRefused && (await fetch(`${server.url}/healthz`)).status === 503) return performance.now() - sinceMs;
    await Bun.sleep(20);
  }
  return Number.POSITIVE_INFINITY;
}
