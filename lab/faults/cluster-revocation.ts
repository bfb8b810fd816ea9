/** Revocations on a cluster whose nodes stand still, are killed and come back: none is served after the command has returned. */
import { someLeads } from "../../test/builders.ts";
import { missingRqlited, type Place, type Places, startPlaces, statusAt } from "./cluster-places.ts";
import { type Key, makeAccount, makeKey } from "./contents.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "./fault.ts";

/** What is done to a node while a key is revoked, in turn. */
const troubles = ["none", "a follower stands still", "the leader stands still", "a follower is killed"] as const;
type Trouble = (typeof troubles)[number];

/** Less than six seconds from the moment at which it is written: an election, and the start of a command, come before. */
const mostMs = 9_000;

export const clusterRevocation: Fault = {
  name: "cluster: revocations",
  attack:
    "a key that clients use on three nodes is revoked, in turn with a node that stands still or is killed; revocations",
  held: "no request sent after the command returned is served by any node",
  small: 4,
  full: 180,
  missing: missingRqlited,
  breakages: [
    {
      name: "a server without a lease",
      times: 4,
      patches: [
        {
          file: "src/rqlite/served-store.ts",
          from: "if (!lease.holds()) throw new",
          to: "if (lease === null) throw new",
        },
      ],
    },
    {
      name: "a revoke that does not wait",
      times: 8,
      patches: [
        {
          file: "src/rqlite/writer.ts",
          from: "      waitForAll(file.revision(), writtenMs);\n",
          to: "      void waitForAll;\n      void writtenMs;\n",
        },
      ],
    },
  ],
  run,
};

async function run({ build, folder, times, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const { places, made: keys } = await startPlaces(build, folder, (store) => {
    const account = makeAccount(store, "acme", someLeads(3));
    return Array.from({ length: times + 1 }, () => makeKey(store, account));
  });
  const [watch, ...others] = keys;
  let done = 0;
  let slowestMs = 0;
  try {
    for (const [turn, key] of others.entries()) {
      if (!goesOn() || watch === undefined) break;
      await places.untilServing(watch.secret);
      const trouble = troubles[turn % troubles.length] ?? "none";
      const { lateMs, tookMs, said, served } = await revokeAmid(places, key, trouble);
      expect(served, () => `revocation ${turn + 1} (${trouble}): the key was never served, so nothing was shown`);
      expect(lateMs.length === 0, () => `revocation ${turn + 1} (${trouble}): served ${lateMs.join(", ")} ms after it`);
      expect(tookMs < mostMs, () => `revocation ${turn + 1} (${trouble}) took ${tookMs} ms`);
      expect(trouble === "none" || said !== "", () => `revocation ${turn + 1} (${trouble}) named no node`);
      slowestMs = Math.max(slowestMs, Math.round(tookMs));
      progress((done = turn + 1));
    }
  } finally {
    await places.end();
  }
  return { done, broken, figures: { "slowest revocation, ms": slowestMs } };
}

async function revokeAmid(places: Places, key: Key, trouble: Trouble) {
  const [follower, other] = await places.followers();
  const leader = await places.leader();
  const victim = trouble === "the leader stands still" ? leader : follower;
  const hammering = hammer(places.all, key.secret);
  await Bun.sleep(300);
  if (trouble === "a follower is killed") victim.engine.kill("SIGKILL");
  else if (trouble !== "none") victim.engine.kill("SIGSTOP");
  const begunMs = performance.now();
  const { status, stderr } = await places.admin(other, ["key", "revoke", key.id]);
  const returnedMs = performance.now();
  if (status !== 0) throw new Error(`revoking ended with ${status}: ${stderr}`);
  await Bun.sleep(300);
  if (trouble === "a follower is killed") await places.restart(victim);
  else victim.engine.kill("SIGCONT");
  await Bun.sleep(1_500);
  const servedAtMs = await hammering.end();
  const lateMs = servedAtMs.filter((atMs) => atMs > returnedMs).map((atMs) => Math.round(atMs - returnedMs));
  return { lateMs, tookMs: returnedMs - begunMs, said: stderr, served: servedAtMs.length > 0 };
}

/** Asks all servers again and again; gives when requests began that were answered with leads. */
function hammer(all: readonly Place[], secret: string) {
  let isOver = false;
  const servedAtMs: number[] = [];
  const asking = all.map(async (place) => {
    while (!isOver) {
      const begunMs = performance.now();
      if ((await statusAt(place, secret)) === 200) servedAtMs.push(begunMs);
      await Bun.sleep(2);
    }
  });
  return {
    async end(): Promise<readonly number[]> {
      isOver = true;
      await Promise.all(asking);
      return servedAtMs;
    },
  };
}
