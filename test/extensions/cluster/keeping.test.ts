/** Looking after a cluster: how it begins, how it is shown, how its logs are rid of what was erased, how a node leaves. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { placeNodes, startNode } from "../../../extensions/cluster/local-cluster.ts";
import { untilReady } from "../../../extensions/cluster/members.ts";
import { anAdmin } from "../../support/admin.ts";
import { someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { needing, unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aSmallDisk } from "../../support/small-disk.ts";
import { aCluster, answerOf, missing, settingsOf, until, watched } from "./cluster.ts";
import { aHost, rqlited, someSecrets } from "./nodes.ts";

unless(missing).describe("a cluster of three nodes", () => {
  test("begins with an existing file, and never on a node that has something", async () => {
    const file = join(aFolder(), "leadfile.db");
    const appliance = anAdmin(["acme"]);
    await appliance.give(JSON.stringify(someLeads(1)[0]), "lead", "import", "acme", "-", "--create-pixels");
    const [node] = placeNodes(aFolder(), ["n1"], aHost());
    if (node === undefined) throw new Error("there is a node");
    watched(startNode(rqlited, node));
    await untilReady(node);
    const admin = anAdmin([], settingsOf(node));
    expect((await admin.run("cluster", "init", file)).stderr).toContain("There is no");
    const begun = await admin.run("cluster", "init", appliance.file, "--json");
    expect(JSON.parse(begun.stdout)).toEqual({ file: appliance.file, leads: 1 });
    expect(begun.stderr).toContain(`${appliance.file} still has its personal data. Delete it`);
    expect((await admin.run("lead", "export", "acme")).stdout).toBe(await appliance.exported());
    const again = await admin.run("cluster", "init", appliance.file);
    expect(again.stderr).toContain("is not alone and empty. Start a node with a new folder");
  });

  test("is shown with its leader, and which servers answer", async () => {
    const cluster = await aCluster();
    const [place, ...others] = cluster.places;
    const admin = cluster.admin(place);
    await until(async () => {
      const { nodes } = (await admin.run("cluster", "status", "--json")).json as unknown as Shown; // As decided.
      return nodes.every(({ server, lag }) => server?.serves === true && lag === 0);
    });
    // Another one may come to lead at any time.
    await until(async () => {
      const leader = await cluster.leader();
      const text = (await admin.run("cluster", "status")).stdout;
      return cluster.places.every(({ node, url }) => {
        const shown = node === leader.node ? `◆ +${node.name} +leader` : `● +${node.name} +follower`;
        return new RegExp(`${shown}.*${url} +yes`).test(text);
      });
    });
    await until(async () => !(await admin.run("doctor", "--json")).stdout.includes("cluster"));
    for (const { engine } of others) engine.kill("SIGKILL");
    await until(async () => (await fetch(`${place.url}/healthz`)).status === 503);
    const silent = (await admin.run("cluster", "status", "--json")).stdout;
    expect(silent).not.toMatch(/"\w*[A-Z]\w*":/);
    expect(JSON.parse(silent)).toMatchObject({ has_majority: false });
    const alone = await admin.run("cluster", "status");
    expect(alone.stdout).toContain("No majority of the 3 nodes is reachable");
    expect(alone.status).toBe(1);
    const found = await admin.run("doctor");
    expect(found.stdout).toMatch(/^broken +cluster +No majority of the 3 nodes/m);
    expect(found.status).toBe(2);
  });

  test("asks nodes for whose passwords deploy/ has the rights, right after the first one has started", async () => {
    const { first, settings, admin } = await aClusterWithPassword();
    const { url } = await serverBeside(settings);
    const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
    const status = async () => (await client(url, { Authorization: `Bearer ${key}` }).get("/pixels")).status;
    await until(async () => (await status()) === 200);
    expect((await admin.run("key", "revoke", id)).stderr).toBe("");
    expect(await status()).toBe(401);
    // What replaces or removes nodes is not for the credentials of a server.
    const refusedLeave = await anAdmin([], settings).run("cluster", "leave", "n3");
    expect(refusedLeave).toMatchObject({ status: 1 });
    const stranger = anAdmin([], settingsOf(first));
    const refused = await stranger.run("cluster", "status");
    expect(refused.stderr).toContain("The rqlite node at CLUSTER does not answer");
  });
});

unless(missing).describe("a cluster that loses nodes", () => {
  test("lets no node leave without which the others are no majority", async () => {
    const cluster = await aCluster();
    const [first, second, third] = cluster.places;
    third.engine.kill("SIGKILL");
    await third.engine.exited;
    const ended = await cluster.admin(second).run("cluster", "leave", first.node.name);
    expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining("Without n1, no majority") });
    expect((await cluster.admin(second).run("account", "create", "birch")).status).toBe(0);
    expect((await answerOf(cluster.as(first), "/leads")).status).toBe(200);
  });

  test("warns of a server that does not answer, beside a node that does", async () => {
    const cluster = await aCluster();
    const [{ server, node }, other] = cluster.places;
    await server.end("SIGKILL");
    await until(async () => {
      const { stdout } = await cluster.admin(other).run("doctor", "--json");
      return stdout.includes(`The servers of these nodes do not answer: ${node.name}.`);
    });
  });

  test("says beside a node whose disk is lost that rqlited brings the file back, and not a backup", async () => {
    const cluster = await aCluster();
    const [{ engine, node }] = cluster.places;
    engine.kill("SIGKILL");
    await engine.exited;
    rmSync(node.folder, { recursive: true });
    mkdirSync(node.folder);
    const { status, stdout } = await cluster.admin(cluster.places[0]).run("doctor", "--json");
    expect([status, stdout]).toEqual([2, expect.stringContaining("in a cluster rqlited does")]);
    expect(stdout).not.toContain("restore FILE");
  });

  needing("mount")("warns beside a node whose disk is soon full", async () => {
    using disk = aSmallDisk(aFolder(), "size=60m,mode=755");
    const [node] = placeNodes(disk.path, ["n1"], aHost());
    if (node === undefined) throw new Error("there is a node");
    const engine = watched(startNode(rqlited, node));
    await untilReady(node);
    const admin = anAdmin([], settingsOf(node));
    await admin.run("cluster", "init", anAdmin(["acme"]).file);
    const { stdout } = await admin.run("doctor", "--json");
    engine.kill("SIGKILL");
    await engine.exited;
    expect(stdout).toMatch(/Only [56]\d\.\d MB are free/);
  });

  test("lets a node leave that rqlite has removed already, and no revocation waits for its server any more", async () => {
    const cluster = await aCluster();
    const [{ node }, third] = cluster.places;
    const admin = cluster.admin(cluster.places[0]);
    third.engine.kill("SIGKILL");
    await third.engine.exited;
    const removal = { method: "DELETE", body: JSON.stringify({ id: third.node.name }) };
    await until(async () => (await fetch(`${node.url}/remove`, removal)).ok);
    expect((await admin.run("cluster", "leave", third.node.name)).status).toBe(0);
    const revoked = await admin.run("key", "revoke", cluster.keyId);
    expect(revoked).toMatchObject({ status: 0, stderr: expect.not.stringContaining(third.node.name) });
  });

  test("lets a node leave, whose server answers nobody any more when the command returns", async () => {
    const cluster = await aCluster(someLeads(1));
    const [place] = await cluster.followers();
    if (place === undefined) throw new Error("there are followers");
    const leader = await cluster.leader();
    expect((await cluster.admin(leader).run("cluster", "leave", "n9")).stderr).toContain("has no node n9. It has");
    expect((await cluster.admin(leader).run("cluster", "leave", place.node.name)).stderr).toBe("");
    expect((await cluster.as(place).get("/leads")).status).toBe(500);
    await until(async () => {
      const { stdout } = await cluster.admin(place).run("doctor", "--json");
      return stdout.includes(`${place.node.name} is no longer a node of the cluster`);
    });
    const revoked = await cluster.admin(leader).run("key", "revoke", cluster.keyId);
    expect(revoked).toMatchObject({ status: 0, stderr: expect.not.stringContaining(place.node.name) });
    expect((await answerOf(cluster.as(leader), "/leads")).status).toBe(401);
  });
});

/** Three nodes with passwords, on the file of an appliance with the account acme. */
async function aClusterWithPassword() {
  const secrets = someSecrets("127.0.0.1");
  const auth = ["-auth", join(secrets, "auth.json")];
  const login = readFileSync(join(secrets, "admin.auth"), "utf8").trim();
  const authorization = `Basic ${Buffer.from(login).toString("base64")}`;
  const nodes = placeNodes(aFolder(), ["n1", "n2", "n3"], aHost()).map((node) => ({ ...node, authorization }));
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error("there are nodes");
  watched(startNode(rqlited, first, { flags: auth }));
  const settings = { ...settingsOf(first), CLUSTER_AUTH: join(secrets, "server.auth") };
  const admin = anAdmin([], { ...settings, CLUSTER_AUTH: join(secrets, "admin.auth") });
  // Right after the start: there is no leader yet.
  expect(await admin.run("cluster", "init", anAdmin(["acme"]).file)).toMatchObject({ status: 0 });
  for (const node of others)
    watched(startNode(rqlited, node, { others: [first], flags: [...auth, "-join-as", "rqlite"] }));
  await Promise.all(others.map((node) => untilReady(node)));
  return { first, settings, admin };
}

async function serverBeside(settings: Record<string, string>): Promise<{ url: string }> {
  return { url: await start(settings).listening() };
}

interface Shown {
  readonly nodes: readonly { readonly server: { readonly serves: boolean } | null; readonly lag: number | null }[];
}
