/** A real cluster: nodes of rqlite on this machine, and a server beside each. */
import { onTestFinished } from "bun:test";
import { join } from "node:path";
import {
  type LocalNode,
  placeNodes,
  type RunningNode,
  startCluster,
  startNode,
} from "../../../extensions/cluster/local-cluster.ts";
import { untilReady } from "../../../extensions/cluster/members.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import type { Account } from "../../../src/db/accounts.ts";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { openAdminStore } from "../../support/admin-store.ts";
import { aFolder } from "../../support/folder.ts";
import { type Answer, aKey, anAccount, type Client, client } from "../../support/harness.ts";
import { type RunningProcess, start } from "../../support/process.ts";
import { aHost, leaderOf, missingRqlited, rqlited } from "./nodes.ts";

/** Why the tests of a cluster are skipped; null where they run. */
export const missing = missingRqlited();

export interface Place {
  readonly node: LocalNode;
  /** The rqlite of this place, as it was started last. */
  engine: RunningNode;
  server: RunningProcess;
  url: string;
}

export interface Cluster {
  readonly account: Account;
  /** A key that was there before the file became a node. */
  readonly key: string;
  readonly keyId: string;
  readonly places: readonly [Place, Place, Place];
  /** The file that became the first node. */
  readonly file: string;
  as(place: Place, key?: string): Client;
  /** The commands beside a node. */
  admin(place: Place): Admin;
  leader(): Promise<Place>;
  followers(): Promise<Place[]>;
  restart(place: Place): Promise<void>;
}

/** Three nodes with a server each, on a file with one account; all of it ends with the test. */
export async function aCluster(
  leads: readonly Lead[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const folder = aFolder();
  const file = join(folder, "leadfile.db");
  const admin = openAdminStore(file);
  const account = anAccount(admin, { leads });
  const { secret: key, id: keyId } = aKey(admin, account);
  admin.close();
  const engines = await startCluster(placeNodes(folder, ["n1", "n2", "n3"], aHost()), file, (node, others) =>
    watched(startNode(rqlited, node, { others })),
  );
  const places = await Promise.all(
    engines.map(async (engine): Promise<Place> => {
      const server = start({ ...settingsOf(engine), ...settings });
      return { node: engine, engine, server, url: await server.listening() };
    }),
  );
  const [first, second, third] = places;
  if (first === undefined || second === undefined || third === undefined) throw new Error("there are three nodes");
  const as = (place: Place, own = key) => client(place.url, { Authorization: `Bearer ${own}` });
  await Promise.all(places.map((place) => answerOf(as(place), "/pixels")));
  return {
    account,
    key,
    keyId,
    file,
    places: [first, second, third],
    as,
    admin: ({ node }) => anAdmin([], settingsOf(node)),
    leader: () => leaderOf(places),
    async followers() {
      const leader = await leaderOf(places);
      return places.filter((place) => place !== leader);
    },
    async restart(place) {
      // It knows the others; one that is to join and finds no leader ends.
      place.engine = watched(startNode(rqlited, place.node));
      await untilReady(place.node);
    },
  };
}

export function settingsOf({ path, url, name }: LocalNode): Record<string, string> {
  return { DATABASE_PATH: path, CLUSTER: url, NODE_NAME: name, RATE_LIMIT_PER_MIN: "1000000" };
}

export function watched(node: RunningNode): RunningNode {
  onTestFinished(async () => {
    // One that stands still would not end.
    node.kill("SIGCONT");
    node.kill("SIGKILL");
    await node.exited;
  });
  return node;
}

/** How many leads the file of a node has by now. */
export async function storedBy({ url }: LocalNode): Promise<number> {
  const answer = await fetch(`${url}/db/query?level=none&q=SELECT%20count(*)%20FROM%20stored_leads`);
  const { results } = (await answer.json()) as { results: { values?: number[][] }[] }; // As rqlite answers.
  return results[0]?.values?.[0]?.[0] ?? 0;
}

/** Waits for what comes about by itself, as long as it takes on a machine that has other work. */
export async function until(isSo: () => Promise<boolean> | boolean, patienceMs = 60_000): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error("it has not come about in time");
    await Bun.sleep(20);
  }
}

/** The answer of a node to a GET; a node that nobody lets run for some seconds has no lease then, and is asked again. */
export async function answerOf(asking: Client, target: string): Promise<Answer> {
  let answer = await asking.get(target);
  await until(async () => {
    if (answer.status === 500) answer = await asking.get(target);
    return answer.status !== 500;
  });
  return answer;
}
