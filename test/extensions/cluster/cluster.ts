/** A real cluster: nodes of rqlite on this machine, and a server next to each. */
import { expect, onTestFinished } from "bun:test";
import { join } from "node:path";
import { untilReady } from "../../../extensions/cluster/members.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { type Admin, anAdmin, type Ended } from "../../support/admin.ts";
import { aKey, anAccount, openTestDatabase } from "../../support/database.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { type Answer, type Client, client } from "../../support/harness.ts";
import { start } from "../../support/process.ts";
import { delayed } from "./distance.ts";
import {
  aHost,
  type LocalNode,
  leaderOf,
  missingRqlited,
  placeNodes,
  type RunningNode,
  startCluster,
  startNode,
} from "./nodes.ts";

/** The reason why cluster tests are skipped; null if they run. */
export const missing = missingRqlited();

/** A node with its server. */
export type Place = Awaited<ReturnType<typeof placeOf>>;

export type Cluster = Awaited<ReturnType<typeof aCluster>>;

/** Three nodes with a server each, on a file with one account. They end with the test. */
export async function aCluster(
  leads: readonly Lead[] = [],
  settings: Readonly<Record<string, string>> = {},
  distance: { readonly roundTripMs: number } | null = null,
) {
  const folder = aFolder();
  const file = join(folder, "leadfile.db");
  const database = openTestDatabase(file);
  const account = anAccount(database, { leads });
  const { secret: key, id: keyId } = aKey(database, account);
  database.close();
  const startOne = distance === null ? startNear : startersFar(distance);
  const engines = await startCluster(placeNodes(folder, ["n1", "n2", "n3"], aHost()), file, startOne);
  const places = await Promise.all(engines.map((engine) => placeOf(engine, key, settings, startOne)));
  const [first, second, third] = places;
  if (first === undefined || second === undefined || third === undefined) throw new Error("there are three nodes");
  await Promise.all(places.map((place) => answerOf(place.as(), "/pixels")));
  const leader = () => leaderOf(places);
  return {
    account,
    /** A key that is older than the cluster. */
    key,
    keyId,
    /** The file that was copied into the first node. */
    file,
    places: [first, second, third] as const,
    leader,
    async followers(): Promise<[Place, Place]> {
      const leads = await leader();
      return leads === first ? [second, third] : leads === second ? [first, third] : [first, second];
    },
  };
}

type StartOne = (node: LocalNode, others?: readonly LocalNode[]) => RunningNode;

const startNear: StartOne = (node, others = []) => watched(startNode(node, { others }));

/** Starts nodes that reach each other only through proxies, which delay everything by half of a round trip. */
function startersFar(distance: { readonly roundTripMs: number }): StartOne {
  const proxies = new Map<string, string>();
  const far = (address: string) =>
    proxies.getOrInsertComputed(address, () => delayed(address, () => distance.roundTripMs / 2));
  return (node, others = []) => {
    const [http, raft] = [far(new URL(node.url).host), far(node.raftAddress)];
    return watched(
      startNode(node, {
        others: others.map((other) => ({ ...other, raftAddress: far(other.raftAddress) })),
        flags: ["-http-adv-addr", http, "-raft-adv-addr", raft],
      }),
    );
  };
}

async function placeOf(node: RunningNode, key: string, settings: Readonly<Record<string, string>>, startOne: StartOne) {
  const server = start({ ...settingsOf(node), ...settings });
  const url = await server.listening();
  const place = {
    node: node as LocalNode,
    /** The rqlite of this node that was started last. */
    engine: node,
    server,
    url,
    /** The commands next to the node. */
    admin: anAdmin([], settingsOf(node)),
    /** A client with the key of the cluster, or another one. */
    as: (own = key): Client => client(url, { Authorization: `Bearer ${own}` }),
    /** Kills rqlite, and waits for its end. */
    async kill(): Promise<void> {
      place.engine.kill("SIGKILL");
      await place.engine.exited;
    },
    /** Starts rqlite again, with others to join if its folder is empty: a node that has data knows them. */
    async restart(others: readonly LocalNode[] = []): Promise<void> {
      place.engine = startOne(node, others);
      await untilReady(node);
    },
  };
  return place;
}

export function settingsOf({ path, url, name }: LocalNode): Record<string, string> {
  return { DATABASE_PATH: path, CLUSTER: url, NODE_NAME: name, RATE_LIMIT_PER_MIN: "1000000" };
}

export function watched(node: RunningNode): RunningNode {
  onTestFinished(async () => {
    // A paused process would not end.
    node.kill("SIGCONT");
    node.kill("SIGKILL");
    await node.exited;
  });
  return node;
}

/**
 * Runs a command that stops and starts a node. The test is its supervisor: it waits for the files that the commands to stop and
 * start create.
 */
export async function supervised(
  { admin, engine }: Place,
  name: "scrub" | "rejoin",
  restart: () => Promise<void>,
  whileStopping: (running: ReturnType<Admin["start"]>) => Promise<void> = async () => {},
) {
  const folder = aFolder();
  const [stop, start] = [join(folder, "stop"), join(folder, "start")];
  const command = (file: string) => `touch ${file}; until [ -e ${file}ped ]; do sleep 0.02; done`;
  const running = admin.start("cluster", name, "--stop", command(stop), "--start", command(start));
  await until(() => Bun.file(stop).exists());
  await whileStopping(running);
  engine.kill("SIGTERM");
  await engine.exited;
  await Bun.write(`${stop}ped`, "");
  await until(() => Bun.file(start).exists());
  const restarted = restart();
  await Bun.write(`${start}ped`, "");
  await restarted;
  return running.finished();
}

/** Creates a key through a node. Every node knows it. */
export async function aNewKey({ account, places }: Cluster, { admin }: Place = places[0]) {
  const { id, key } = (await admin.run("key", "create", account.id, "--json")).json;
  for (const place of places) await until(async () => (await place.as(key).get("/pixels")).status === 200);
  return { id, key };
}

/** The number of leads in the file of a node. */
export async function storedBy({ node }: Pick<Place, "node">): Promise<number> {
  return await numberFrom(node, "SELECT count(*) FROM stored_leads");
}

/** The number that a node has locally for a query. */
export async function numberFrom({ url }: LocalNode, sql: string): Promise<number> {
  const answer = await fetch(`${url}/db/query?level=none&q=${encodeURIComponent(sql)}`);
  const { results } = (await answer.json()) as { results: { values?: number[][] }[] }; // As rqlite answers.
  return results[0]?.values?.[0]?.[0] ?? 0;
}

/** Expects that a command succeeded; otherwise the test shows its standard error. */
export function expectSuccess({ status, stderr }: Pick<Ended, "status" | "stderr">): void {
  expect(status === 0 ? "" : stderr).toBe("");
}

/** The answer of a node to a GET. A node without a lease, as on a machine that stops for seconds, is asked again. */
export async function answerOf(asking: Client, target: string): Promise<Answer> {
  let answer = await asking.get(target);
  await until(async () => {
    if (answer.status === 500) answer = await asking.get(target);
    return answer.status !== 500;
  });
  return answer;
}
