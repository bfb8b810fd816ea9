/** A server beside each of three rqlite nodes: it serves what the appliance serves, and nothing once it is cut off. */
import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../support/admin.ts";
import { someLeads } from "../../support/builders.ts";
import { serve } from "../../support/harness.ts";
import { least } from "../../support/least.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aCluster, answerOf, type Cluster, missing, settingsOf, until } from "./cluster.ts";
import { printedBy } from "./nodes.ts";

const targets = (documents: readonly { identified_at: string }[]) => [
  "/leads",
  "/pixels",
  "/leads?state=ca&limit=100",
  "/leads?state=NY&city=Albany",
  "/leads?has_email=true&pixel_id=px_site&limit=7",
  ...documents.map(({ identified_at: at }) => `/leads?limit=3&before=${at}`),
];

unless(missing).describe("a cluster of three nodes", () => {
  test("300 pages of each node are byte for byte those of the appliance on the same file", async () => {
    const leads = someLeads(295);
    const cluster = await aCluster(leads);
    const asked = targets(leads);
    expect(asked).toHaveLength(300);
    const appliance = await serve({ file: cluster.file });
    for (const target of asked) {
      const { text } = await appliance.as(cluster.key).get(target);
      for (const place of cluster.places) expect((await answerOf(cluster.as(place), target)).text).toBe(text);
    }
  });

  test("each node passes the checks of any server of this API", async () => {
    const cluster = await aCluster(someLeads(120), { RATE_LIMIT_PER_MIN: "60" });
    for (const place of cluster.places) {
      const { key } = (await cluster.admin(place).run("key", "create", cluster.account.id, "--json")).json;
      const ended = await cluster.admin(place).give(key, "conformance", place.url);
      expect([ended.status, ended.status === 0 ? "" : ended.stdout]).toEqual([0, ""]);
    }
  });

  test("a node answers 60 requests of a minute, and the doctor sees a balancer that gives a key to several", async () => {
    const cluster = await aCluster(someLeads(3), { RATE_LIMIT_PER_MIN: "60" });
    const [place, other] = cluster.places;
    const admin = cluster.admin(place);
    const { key, id } = (await admin.run("key", "create", cluster.account.id, "--json")).json;
    const ask = (at = place) => cluster.as(at, key).get("/leads");
    // All within one minute of the clock: the window that the first answer names is still open at the last.
    let answers: Awaited<ReturnType<typeof ask>>[] = [];
    const resets = () => new Set(answers.map(({ headers }) => headers.get("X-RateLimit-Reset")));
    for (answers = []; answers.length < 61 || resets().size > 1; answers = answers.slice(resets().size > 1 ? -1 : 0)) {
      answers.push(await ask());
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(60).fill(200), 429]);
    const told = async () => (await admin.run("doctor", "--json")).stdout;
    expect(await told()).not.toContain(id);
    await until(async () => {
      // Both: the minute in which the first was asked may be over.
      await Promise.all([ask(), ask(other)]);
      return new RegExp(`Several nodes served the same key within a minute: [^"]*${id}`).test(await told());
    });
  });

  test("shows its lease, its members, and its clock as metrics, and refuses a second server for its node", async () => {
    const cluster = await aCluster(someLeads(1));
    const [place] = cluster.places;
    const read = async () => (await (await fetch(`${place.url}/metrics`)).text()).replaceAll("leadfile_cluster_", "");
    await until(async () => /^serving 1$/m.test(await read()));
    expect(await read()).toMatch(/^members 3$/m);
    expect(await read()).toMatch(/^missing_writes 0$/m);
    expect(await read()).toMatch(/^lease_age_seconds [0-3]\./m);
    expect(Math.abs(Number(/^clock_off_seconds (\S+)$/m.exec(await read())?.[1]))).toBeLessThan(2);
    const alerts = readFileSync(join(import.meta.dir, "../../../deploy/cluster/prometheus-alerts.yml"), "utf8");
    const metrics = await read();
    for (const [, name] of alerts.matchAll(/leadfile_cluster_(\w+)/g)) expect(metrics).toContain(`\n${name} `);
    const second = start(settingsOf(place.node));
    expect(await second.exited).toBe(1);
    expect(second.errors()).toContain(`${place.url}, already serves the node ${place.node.name}.`);
    expect((await answerOf(cluster.as(place), "/leads")).status).toBe(200);
  });

  test("a server that has the name of another node than the one beside ends, and says so", async () => {
    const cluster = await aCluster();
    const [{ node }] = cluster.places;
    const server = start({ ...settingsOf(node), NODE_NAME: "n2" });
    expect(await server.exited).toBe(1);
    expect(server.errors()).toContain("NODE_NAME is n2, but the node at CLUSTER is n1. Set NODE_NAME to its -node-id");
  });

  test("a server that reads another file than that of the node at CLUSTER ends, and the doctor says so as well", async () => {
    const cluster = await aCluster();
    const [{ node }, { node: other }] = cluster.places;
    const settings = { ...settingsOf(other), DATABASE_PATH: node.path };
    const server = start(settings);
    expect(await server.exited).toBe(1);
    const says = `${node.path} is not the file of n2, the node at CLUSTER.`;
    expect(server.errors()).toContain(`${says} Set DATABASE_PATH to db.sqlite in the folder of that node, or CLUSTER`);
    const looked = await anAdmin([], settings).run("doctor", "--json");
    expect([looked.status, looked.stdout]).toEqual([2, expect.stringContaining(says)]);
    const renamed = await anAdmin([], { ...settingsOf(other), NODE_NAME: "n3" }).run("doctor");
    expect(renamed.stdout).toContain("NODE_NAME is n3, but the node at CLUSTER is n2.");
  });

  test("the file of a node is refused by a server without CLUSTER, and left as it is", async () => {
    const cluster = await aCluster();
    const { path } = cluster.places[0].node;
    const before = statSync(path);
    const refused = start({ DATABASE_PATH: path });
    expect(await refused.exited).toBe(1);
    expect(refused.errors()).toContain("is the file of an rqlite node, which alone may write it. Set CLUSTER");
    expect(statSync(path)).toMatchObject({ ino: before.ino, size: before.size });
  });
});

unless(missing).describe("a cluster that loses nodes", () => {
  test("a node without the majority serves nobody within 6 s, and by itself again within 10 s", async () => {
    const cluster = await aCluster(someLeads(3));
    const [kept, ...lost] = cluster.places;
    let backMs = Number.POSITIVE_INFINITY;
    const silentMs = await least(6_000, async () => {
      for (const { engine } of lost) engine.kill("SIGKILL");
      const tookMs = await timeOf(() => until(async () => (await cluster.as(kept).get("/leads")).status === 500));
      expect((await cluster.as(kept).get("/leads")).body.error.code).toBe("query_failed");
      expect((await fetch(`${kept.url}/healthz`)).status).toBe(503);
      await Promise.all(lost.map(({ engine }) => engine.exited));
      await Promise.all(lost.map((place) => cluster.restart(place)));
      backMs = Math.min(backMs, await timeOf(() => untilServing(cluster)));
      return backMs < 10_000 ? tookMs : Number.POSITIVE_INFINITY;
    });
    expect(silentMs).toBeLessThan(6_000);
  });

  test("a node that starts again knows every key before it answers anybody", async () => {
    const cluster = await aCluster(someLeads(3));
    const [place] = await cluster.followers();
    if (place === undefined) throw new Error("there are followers");
    const { key } = (await cluster.admin(place).run("key", "create", cluster.account.id, "--json")).json;
    await answerOf(cluster.as(place, key), "/leads");
    place.engine.kill("SIGKILL");
    await place.engine.exited;
    await until(async () => (await cluster.as(place, key).get("/leads")).status === 500);
    const restarted = cluster.restart(place);
    const statuses = new Set<number>();
    await until(async () => {
      const { status } = await cluster.as(place, key).get("/leads");
      statuses.add(status);
      return status === 200;
    });
    await restarted;
    expect(statuses).toEqual(new Set([500, 200]));
  });

  test("usage is what was answered, over a leader that is killed", async () => {
    const cluster = await aCluster(someLeads(3));
    // Each server was asked until it answered.
    let answered = cluster.places.length;
    const ask = async () => {
      for (const place of cluster.places) {
        if ((await cluster.as(place).get("/leads")).status === 200) answered++;
      }
    };
    for (let round = 0; round < 50; round++) await ask();
    const leader = await cluster.leader();
    leader.engine.kill("SIGKILL");
    for (let round = 0; round < 50; round++) await ask();
    await cluster.restart(leader);
    await until(async () => (await cluster.as(leader).get("/pixels")).status === 200 && ++answered > 0);
    // Of all days: midnight may have come meanwhile.
    const counted = async () => {
      const { requests } = await printedBy<{ requests: { requests: number }[] }>(() =>
        cluster.admin(leader).run("stats", cluster.account.id, "--json"),
      );
      return requests.reduce((sum, ofDay) => sum + ofDay.requests, 0);
    };
    await until(async () => (await counted()) >= answered);
    expect(await counted()).toBe(answered);
  });
});

async function untilServing(cluster: Cluster): Promise<void> {
  for (const place of cluster.places) {
    await until(async () => (await cluster.as(place).get("/leads")).status === 200);
    await until(async () => (await fetch(`${place.url}/healthz`)).status === 200);
  }
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}
