/** A server next to each of three rqlite nodes: it serves the same as a single server, and nothing once it is cut off. */
import { expect, test } from "bun:test";
import { readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../../src/contract/lead.ts";
import { walOf } from "../../../src/db/database-files.ts";
import { anAdmin } from "../../support/admin.ts";
import { aLead, someLeads } from "../../support/builders.ts";
import { eventually, until } from "../../support/eventually.ts";
import { serve } from "../../support/harness.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aCluster, aNewKey, answerOf, type Cluster, missing, settingsOf } from "./cluster.ts";
import { printedBy } from "./nodes.ts";

const targets = (documents: readonly { identified_at: string }[]) => [
  "/leads",
  "/pixels",
  "/leads?state=ca&limit=100",
  "/leads?state=NY&city=Albany",
  "/leads?has_email=true&pixel_id=px_site&limit=7",
  ...documents.map(({ identified_at: at }) => `/leads?limit=3&before=${at}`),
];

unless(missing).describe("each server of a cluster", () => {
  test("serves the same bytes as a server without a cluster, and the record names each lead of each key", async () => {
    const leads = someLeads(295);
    const cluster = await aCluster(leads);
    const { account, file, key, places } = cluster;
    const appliance = await serve({ file });
    for (const target of targets(leads)) {
      const { text } = await appliance.as(key).get(target);
      for (const place of places) expect((await answerOf(place.as(), target)).text).toBe(text);
    }
    const received = await receiveAtRandom(cluster, leads);
    // A server that stops writes the last pages.
    for (const { server } of places) expect(await server.end("SIGTERM")).toBe(0);
    const { admin } = places[0];
    const list = admin.put("list", leads.map(({ id }) => id).join("\n"));
    const found = await printedBy<{ received: { id: string; key: string }[] }[]>(() =>
      admin.run("lead", "find", account.id, "--list", list, "--json"),
    );
    const recorded = found.flatMap((person) => person.received.map(({ id, key: by }) => `${id} ${by}`));
    const withNewKeys = recorded.filter((one) => !one.endsWith(cluster.keyId));
    expect(recorded.length - withNewKeys.length).toBe(leads.length);
    expect(withNewKeys.toSorted()).toEqual([...received].toSorted());
  });

  test("conforms, answers 60 requests of a minute, and doctor reports a load balancer that spreads a key", async () => {
    const cluster = await aCluster(someLeads(120), { RATE_LIMIT_PER_MIN: "60" });
    const { account, places } = cluster;
    const [place, other] = places;
    for (const each of places) {
      const { key } = await aNewKey(cluster, each);
      const ended = await each.admin.give(key, "conformance", each.url);
      expect([ended.status, ended.status === 0 ? "" : ended.stdout]).toEqual([0, ""]);
    }
    const { key, id } = (await place.admin.run("key", "create", account.id, "--json")).json;
    const ask = (at = place) => at.as(key).get("/leads");
    // All within one minute of the clock: the window that the first answer names is still open at the last.
    let answers: Awaited<ReturnType<typeof ask>>[] = [];
    const resets = () => new Set(answers.map(({ headers }) => headers.get("X-RateLimit-Reset")));
    for (answers = []; answers.length < 61 || resets().size > 1; answers = answers.slice(resets().size > 1 ? -1 : 0)) {
      answers.push(await ask());
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(60).fill(200), 429]);
    const findings = async () => (await place.admin.run("doctor", "--json")).stdout;
    expect(await findings()).not.toContain(id);
    await until(async () => {
      // Both: the minute of the earlier requests may be over.
      await Promise.all([ask(), ask(other)]);
      return new RegExp(`Several nodes served the same key within a minute: [^"]*${id}`).test(await findings());
    });
  });

  test("has metrics; one with the settings of another node, file, or server ends, and doctor reports it", async () => {
    const [place, { node: other }] = (await aCluster(someLeads(1))).places;
    const { node } = place;
    const read = async () => (await (await fetch(`${place.url}/metrics`)).text()).replaceAll("leadfile_cluster_", "");
    await until(async () => /^serving 1$/m.test(await read()));
    const metrics = await read();
    for (const shown of [/^members 3$/m, /^missing_writes 0$/m, /^lease_age_seconds [0-3]\./m]) {
      expect(metrics).toMatch(shown);
    }
    expect(Math.abs(Number(/^clock_off_seconds (\S+)$/m.exec(metrics)?.[1]))).toBeLessThan(2);
    const alerts = readFileSync(join(import.meta.dir, "../../../deploy/cluster/prometheus-alerts.yml"), "utf8");
    for (const [, name] of alerts.matchAll(/leadfile_cluster_(\w+)/g)) expect(metrics).toContain(`\n${name} `);
    const before = statSync(node.path);
    const otherFile = `${node.path} is not the file of n2, the node at CLUSTER.`;
    const otherName = "NODE_NAME is n2, but the node at CLUSTER is n1.";
    for (const [settings, says] of [
      [settingsOf(node), `${place.url}, already serves the node n1.`],
      [{ ...settingsOf(node), NODE_NAME: "n2" }, `${otherName} Set NODE_NAME to its -node-id`],
      [{ ...settingsOf(other), DATABASE_PATH: node.path }, `${otherFile} Set DATABASE_PATH to db.sqlite in the folder`],
      [{ DATABASE_PATH: node.path }, "belongs to an rqlite node, and only that node may write to it. Set CLUSTER"],
    ] as const) {
      const server = start(settings);
      expect([await server.exited, server.errors()]).toEqual([1, expect.stringContaining(says)]);
    }
    expect((await answerOf(place.as(), "/leads")).status).toBe(200);
    expect(statSync(node.path)).toMatchObject({ ino: before.ino, size: before.size });
    // The kernel gives two files the same time if they are written in the same tick of its clock.
    const atSeconds = Date.now() / 1_000;
    for (const path of [node.path, other.path])
      for (const file of [path, walOf(path)]) utimesSync(file, atSeconds, atSeconds);
    const doctor = (settings: Record<string, string>) => anAdmin([], settings).run("doctor", "--json");
    expect(await doctor({ ...settingsOf(other), DATABASE_PATH: node.path })).toMatchObject({
      status: 2,
      stdout: expect.stringContaining(otherFile),
    });
    const misnamed = { ...settingsOf(node), NODE_NAME: "n2" };
    expect((await doctor(misnamed)).stdout).toContain(otherName);
    const scrub = await anAdmin([], misnamed).run("cluster", "scrub", "--stop", "false", "--start", "true");
    expect(scrub.stderr).toContain(otherName);
  });
});

unless(missing).describe("removing nodes from a cluster", () => {
  test("serves nothing before a node knows every key, and loses no count and no disclosure", async () => {
    const lead = aLead();
    const cluster = await aCluster([lead]);
    const [restarting] = await cluster.followers();
    const { key } = await aNewKey(cluster, restarting);
    await restarting.kill();
    const statusNow = async () => (await restarting.as(key).get("/leads")).status;
    await until(async () => (await statusNow()) === 500);
    const restarted = restarting.restart();
    const statuses = new Set<number>();
    await until(async () => statuses.add(await statusNow()).has(200));
    await restarted;
    expect(statuses).toEqual(new Set([500, 200]));
    const { place, other, id, answered } = await withoutLeader(cluster);
    expect([await place.server.end("SIGTERM"), place.server.errors()]).toEqual([0, ""]);
    const keys = await printedBy<{ id: string; requests_this_month: number }[]>(() =>
      other.admin.run("key", "list", cluster.account.id, "--json"),
    );
    expect(keys.find((key) => key.id === id)?.requests_this_month).toBe(answered);
    const found = await other.admin.run("lead", "find", cluster.account.id, "--id", lead.id, "--json");
    expect(found.json["received"]).toContainEqual(expect.objectContaining({ id: lead.id, key: id }));
    expect(found.json["gaps"]).toEqual([]);
    await other.server.end("SIGKILL");
    await start(settingsOf(other.node)).listening();
    await eventually(async () => {
      const { gaps } = (await other.admin.run("lead", "find", cluster.account.id, "--id", lead.id, "--json")).json;
      expect(gaps).toMatchObject([{ from: expect.any(String), to: expect.any(String), reason: "stop" }]);
    });
  });

  test("reports the last counts as lost if a server stops without a majority", async () => {
    const { place, other } = await withoutLeader(await aCluster([aLead()]));
    other.engine.kill("SIGKILL");
    expect(await place.server.end("SIGTERM")).toBe(1);
    expect(place.server.errors()).toMatch(/^The last request counts and the record .+ were lost \(.+\)\./);
  });
});

/** Requests pages from all servers with two new keys. Returns each lead that was received, with the ID of the key. */
async function receiveAtRandom(cluster: Cluster, leads: readonly Lead[]): Promise<Set<string>> {
  const keys = [await aNewKey(cluster), await aNewKey(cluster)];
  const received = new Set<string>();
  for (let asked = 0; asked < 300; asked++) {
    const place = cluster.places[asked % 3] ?? cluster.places[0];
    const { id: keyId, key } = keys[asked % 2] ?? { id: "", key: "" };
    // They overlap, touch, or are apart. Half of all leads are in none.
    const before = leads[(asked * 7919) % 148]?.identified_at ?? "";
    const { body } = await answerOf(place.as(key), `/leads?limit=${1 + ((asked * 31) % 9)}&before=${before}`);
    for (const { id } of body.data) received.add(`${id} ${keyId}`);
  }
  return received;
}

/** Kills the leader, and returns the others. The first has answered some pages of a new key since. */
async function withoutLeader({ account, leader, followers }: Cluster) {
  const [place, other] = await followers();
  const { key, id } = (await place.admin.run("key", "create", account.id, "--json")).json;
  await (await leader()).kill();
  let answered = 0;
  for (let asked = 0; asked < 20; asked++) {
    if ((await place.as(key).get("/leads")).status === 200) answered++;
  }
  expect(answered).toBeGreaterThan(0);
  return { place, other, id, answered };
}
