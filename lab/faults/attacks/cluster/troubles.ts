/** What befalls a node of a cluster while a key is revoked. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { untilReady } from "../../../../extensions/cluster/members.ts";
import { startNode } from "../../../../test/extensions/cluster/nodes.ts";
import { aLead } from "../../../../test/support/builders.ts";
import { fill } from "../../../../test/support/small-disk.ts";
import type { Key } from "../../product/contents.ts";
import { beginImport, expectDone, type Place, type Places, statusAt, untilTrue } from "./places.ts";

export interface Trouble {
  readonly name: string;
  /** The node that has it; null if none has. */
  readonly victim: "leader" | "follower" | null;
  /** True if the node cannot confirm the revocation. */
  readonly isUnreachable?: true;
  /** True if the node needs a whole file afterwards. */
  readonly sendsFile?: true;
  /** Returns the function that ends it. `watch` is a key that is never revoked. */
  begin(place: Place, places: Places, watch: Key): End | Promise<End>;
}

type End = () => unknown;

const importedRows = 20_000;

export const idle: Trouble = { name: "idle", victim: null, begin: () => () => undefined };

export const quiet: readonly Trouble[] = [
  idle,
  {
    name: "during an import",
    victim: null,
    async begin(place, { all }) {
      const leads = Array.from({ length: importedRows }, () => aLead());
      const { importing } = await beginImport(place, all.find((other) => other !== place) ?? place, leads);
      return async () => {
        expectDone("an import", await importing, (holds, otherwise) => {
          if (!holds) throw new Error(otherwise());
        });
      };
    },
  },
];

function pause({ engine }: Place): End {
  engine.kill("SIGSTOP");
  return () => engine.kill("SIGCONT");
}

function cutOff(victim: Place): End {
  if (victim.site === null) return pause(victim);
  victim.site.cut();
  return victim.site.join;
}

function killNode({ engine, restart }: Place): End {
  engine.kill("SIGKILL");
  return restart;
}

/** The connection to the other nodes is lost. */
export const losses: readonly Trouble[] = [
  { name: "follower paused", victim: "follower", isUnreachable: true, begin: pause },
  { name: "leader cut off", victim: "leader", isUnreachable: true, begin: cutOff },
  { name: "node restarted", victim: "follower", isUnreachable: true, begin: killNode },
  { name: "follower cut off", victim: "follower", isUnreachable: true, begin: cutOff },
  {
    name: "snapshot sent",
    victim: "follower",
    isUnreachable: true,
    sendsFile: true,
    begin(victim, places) {
      const join = cutOff(victim);
      return async () => {
        await truncateLogs(places, victim);
        join();
      };
    },
  },
];

/** Removes the entries from the logs of the other nodes that the victim lacks, so that it needs a whole file. */
async function truncateLogs({ all }: Places, victim: Place): Promise<void> {
  for (const { node } of all.filter((one) => one !== victim)) {
    // A node that has just made a snapshot by itself refuses, until there is another write.
    await untilTrue("a snapshot", 20_000, async () => {
      return (await fetch(`${node.url}/snapshot?trailing_logs=1`, { method: "POST" })).ok;
    });
  }
}

/** The disk of a node is full. */
export const fullDisks: readonly Trouble[] = [
  { name: "disk of the leader", victim: "leader", begin: fillDisk },
  { name: "disk of a follower", victim: "follower", begin: fillDisk },
];

function fillDisk(victim: Place, places: Places, watch: Key): End {
  fill(victim.node.folder);
  return async () => {
    rmSync(join(victim.node.folder, "rest"), { force: true });
    // A node that only lagged serves again by itself.
    const isServing = async () => (await statusAt(victim, watch)) === 200;
    await untilTrue("a node serves again", 10_000, isServing).catch(() => rebuild(places, victim));
  };
}

/** Starts a node with an empty folder, as docs/cluster.md describes. */
async function rebuild({ all }: Places, place: Place): Promise<void> {
  await place.kill();
  // The folder is the mounted disk, and remains.
  for (const name of readdirSync(place.node.folder)) rmSync(join(place.node.folder, name), { recursive: true });
  const others = all.filter((one) => one !== place).map(({ node }) => node);
  place.engine = startNode(place.node, { others });
  await untilReady(place.node);
}
