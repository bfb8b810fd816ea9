/** The operation of a cluster: how it begins, how it is shown, upgraded, and repaired, and how a node leaves. */
import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { untilReady } from "../../../extensions/cluster/members.ts";
import { addMigration, breakBuild, project } from "../../../lab/faults/breaking/build.ts";
import { anAdmin } from "../../support/admin.ts";
import { answering } from "../../support/answering.ts";
import { someLeads } from "../../support/builders.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { needing, unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aSmallDisk } from "../../support/small-disk.ts";
import { aCluster, answerOf, expectSuccess, missing, type Place, settingsOf, supervised, watched } from "./cluster.ts";
import { aHost, placeNodes, rqlited, startNode } from "./nodes.ts";

/** A node without others, and its commands. */
async function aNode(folder = aFolder()) {
  const [node] = placeNodes(folder, ["n1"], aHost());
  if (node === undefined) throw new Error("there is a node");
  const engine = watched(startNode(node));
  await untilReady(node);
  return { node, engine, admin: anAdmin([], settingsOf(node)) };
}

unless(missing).describe("a cluster", () => {
  test("begins with an existing file, and only on a node that is empty", async () => {
    const { node, admin } = await aNode();
    // It waits for the first data, and leaves the node empty until then.
    const url = await start(settingsOf(node)).listening();
    expect((await admin.run("doctor", "--json")).stdout).toContain("n1 has no data and is a cluster by itself");
    const appliance = anAdmin(["acme"]);
    await appliance.give(JSON.stringify(someLeads(1)[0]), "lead", "import", "acme", "-", "--create-pixels");
    expect((await admin.run("cluster", "init", join(aFolder(), "leadfile.db"))).stderr).toContain("There is no");
    const begun = await admin.run("cluster", "init", appliance.file, "--json");
    expect(begun.json as object).toEqual({ file: appliance.file, leads: 1 });
    expect(begun.stderr).toContain(`${appliance.file} still contains personal data. Delete it`);
    await until(async () => (await fetch(`${url}/healthz`)).ok);
    expect(await admin.exported()).toBe(await appliance.exported());
    const again = await admin.run("cluster", "init", appliance.file);
    expect(again.stderr).toContain("is not alone and empty. Start a node with a new folder");
  });

  test("of one node keeps its only copy of the data when it should join again", async () => {
    const { node, admin } = await aNode();
    const appliance = anAdmin(["acme"]);
    expect((await admin.run("cluster", "init", appliance.file)).status).toBe(0);
    const refused = await admin.run("cluster", "rejoin", "--stop", "false", "--start", "false");
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`${node.name} is the only node with a vote`),
    });
    expect((await admin.run("account", "list", "--json")).json as object).toMatchObject([{ name: "acme" }]);
  });

  test("is shown with its leader, its servers, and the lack of a majority", async () => {
    const cluster = await aCluster();
    const { places } = cluster;
    const [{ admin, url }, ...others] = places;
    await until(async () => {
      const { nodes } = (await admin.run("cluster", "status", "--json")).json as unknown as Shown; // As decided.
      return nodes.every(({ server, lag }) => server?.serves === true && lag === 0);
    });
    // Another node may become the leader at any time.
    await until(async () => {
      const leader = await cluster.leader();
      const text = (await admin.run("cluster", "status")).stdout;
      return places.every((place) => {
        const { name } = place.node;
        const shown = place === leader ? `◆ +${name} +leader` : `● +${name} +follower`;
        return new RegExp(`${shown}.*${place.url} +yes`).test(text);
      });
    });
    await until(async () => !(await admin.run("doctor", "--json")).stdout.includes("cluster"));
    for (const { engine } of others) engine.kill("SIGKILL");
    await until(async () => (await fetch(`${url}/healthz`)).status === 503);
    const status = await admin.run("cluster", "status", "--json");
    expect(status).toMatchObject({ status: 1, json: { has_majority: false } });
    expect(status.stdout).not.toMatch(/"\w*[A-Z]\w*":/);
    expect((await admin.run("cluster", "status")).stdout).toContain("No majority of the 3 nodes is reachable");
    const doctor = await admin.run("doctor");
    expect([doctor.status, doctor.stdout]).toEqual([
      2,
      expect.stringMatching(/^broken +cluster +No majority of the 3 nodes/m),
    ]);
  });

  test("goes over to the next version while servers of the earlier one continue", async () => {
    const [place, ...others] = (await aCluster(someLeads(3))).places;
    const next = theNextVersion();
    const page = (await answerOf(place.as(), "/leads")).text;
    const settings = settingsOf(place.node);

    // In the place of the server of this node, before the schema is updated.
    expect(await place.server.end("SIGTERM")).toBe(0);
    const early = start({ ...settings, PORT: new URL(place.url).port }, aFolder(), [
      process.execPath,
      join(next, "src/main.ts"),
    ]);
    expect(await early.listening()).toBe(place.url);
    expect((await place.as().get("/leads")).status).toBe(500);

    const run = async (...args: string[]) => {
      const child = start(settings, aFolder(), [process.execPath, join(next, "src/admin.ts"), ...args]);
      return { status: await child.exited, output: child.output() };
    };
    expect((await run("doctor")).output).toMatch(/An earlier version.+cluster\s+migrate/s);
    const folder = aFolder();
    expect((await run("backup", join(folder, "copy.db"))).status).toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "copy.db.manifest.json"]);

    for (const done of ["Migrations applied: 1.", "The schema is up to date."]) {
      const output = `${done} Servers of the earlier version continue to serve.\n`;
      expect(await run("cluster", "migrate")).toEqual({ status: 0, output });
      for (const each of [place, ...others]) expect((await answerOf(each.as(), "/leads")).text).toBe(page);
    }
  });
});

interface Shown {
  readonly nodes: readonly { readonly server: { readonly serves: boolean } | null; readonly lag: number | null }[];
}

/** A copy of the product with one more migration. */
function theNextVersion(): string {
  const build = breakBuild([]);
  onTestFinished(() => rmSync(build, { recursive: true }));
  const table = "CREATE TABLE `shelves` (`number` integer PRIMARY KEY NOT NULL) STRICT;";
  addMigration(build, "ALTER TABLE `keys` ADD `colour` text;", table);
  return build;
}

unless(missing).describe("a node", () => {
  test("that lacks writes, as after a full disk, serves nobody until it joins again, and nobody once it leaves", async () => {
    const cluster = await aCluster(someLeads(3));
    const { account } = cluster;
    const [place] = await cluster.followers();
    const other = await cluster.leader();
    await loseWrite(place, other);
    const problem = `${place.node.name} lacks writes that other nodes have, as after a full disk. Free space on its disk, and`;
    for (const { admin } of [place, other]) expect((await admin.run("cluster", "status")).stdout).toContain(problem);
    expect((await other.admin.run("doctor")).status).toBe(2);
    expect(await place.admin.run("key", "list", account.id)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^The local rqlite node and the leader/),
    });
    expect((await other.admin.run("key", "list", account.id)).status).toBe(0);
    await until(async () => (await place.as().get("/leads")).status === 500);
    // A write that only this node and the leader have must not be lost.
    const [third] = cluster.places.filter((one) => one !== place && one !== other);
    third?.engine.kill("SIGSTOP");
    const refused = await place.admin.run("cluster", "rejoin", "--stop", "false", "--start", "false");
    third?.engine.kill("SIGCONT");
    expect(refused.stderr).toContain(`These nodes are unreachable or behind: ${third?.node.name}.`);
    const rejoining = supervised(place, "rejoin", () => place.restart([other.node]));
    expectSuccess(await rejoining);
    expect((await answerOf(place.as(), "/leads")).status).toBe(200);
    expect((await place.admin.run("cluster", "status")).stdout).not.toContain("lacks");
    const { name } = place.node;
    expect((await other.admin.run("cluster", "leave", "n9")).stderr).toContain("has no node n9. It has");
    expect((await place.admin.run("cluster", "leave", name)).stderr).toContain("is the local node");
    expect((await other.admin.run("cluster", "leave", name)).stderr).toBe("");
    expect((await place.as().get("/leads")).status).toBe(500);
    await until(async () => {
      const { stdout } = await place.admin.run("doctor", "--json");
      return stdout.includes(`${name} is no longer a node of the cluster`);
    });
    const revoked = await other.admin.run("key", "revoke", cluster.keyId);
    expect(revoked).toMatchObject({ status: 0, stderr: expect.not.stringContaining(name) });
    expect((await answerOf(other.as(), "/leads")).status).toBe(401);
  });

  test("cannot leave if the others are no majority, but if rqlite has removed it already", async () => {
    const { keyId, places } = await aCluster();
    const [first, { node, admin }, lost] = places;
    await lost.kill();
    expect(await admin.run("cluster", "leave", "n1")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("Without n1, no majority"),
    });
    expect((await admin.run("account", "create", "birch")).status).toBe(0);
    expect((await answerOf(first.as(), "/leads")).status).toBe(200);
    const removal = { method: "DELETE", body: JSON.stringify({ id: "n3" }) };
    await until(async () => (await fetch(`${node.url}/remove`, removal)).ok);
    expect((await admin.run("cluster", "leave", "n3")).status).toBe(0);
    // No revocation waits for its server any more.
    const revoked = await admin.run("key", "revoke", keyId);
    expect(revoked).toMatchObject({ status: 0, stderr: expect.not.stringContaining("n3") });
  });
});

/** Removes the last write from the file of one node, without rqlite, and writes once more. */
async function loseWrite({ node }: Place, { admin }: Place): Promise<void> {
  await admin.run("account", "create", "birch");
  using file = new Database(node.path);
  const exists = (name: string) => file.prepare("SELECT 1 FROM accounts WHERE name = ?").get(name) !== null;
  await until(() => exists("birch"));
  file.run("DELETE FROM cluster_writes WHERE number = (SELECT max(number) FROM cluster_writes)");
  await admin.run("account", "create", "cedar");
  await until(() => exists("cedar"));
}

unless(missing).describe("doctor", () => {
  test("names a server that does not answer, in one alert, and describes how the file of a lost disk is restored", async () => {
    const [first, ...others] = (await aCluster()).places;
    const [{ admin }] = others;
    await first.server.end("SIGKILL");
    await until(async () => {
      const { stdout } = await admin.run("doctor", "--json");
      return stdout.includes(`The servers of these nodes do not respond: ${first.node.name}.`);
    });
    const alerts: string[] = [];
    const receiver = answering(async (request) => {
      alerts.push(await request.text());
      return new Response();
    });
    const watchers = others.map(({ node }) => anAdmin([], { ...settingsOf(node), ALERT_URL: receiver }));
    for (const _ of ["first start", "second start"]) {
      const watching = watchers.map((each) => each.start("watch"));
      await until(() => alerts.length > 0);
      await Bun.sleep(4_000);
      for (const each of watching) await each.end();
    }
    expect(alerts.filter((alert) => alert.includes("do not respond"))).toHaveLength(1);
    await first.kill();
    rmSync(first.node.folder, { recursive: true });
    mkdirSync(first.node.folder);
    const { status, stdout } = await first.admin.run("doctor", "--json");
    expect([status, stdout]).toEqual([2, expect.stringContaining("rqlited copies the data")]);
    expect(stdout).not.toContain("restore FILE");
  });

  needing("mount")("warns if the disk of the local node is almost full", async () => {
    using disk = aSmallDisk(aFolder(), "size=60m,mode=755");
    const { engine, admin } = await aNode(disk.path);
    await admin.run("cluster", "init", anAdmin(["acme"]).file);
    const { stdout } = await admin.run("doctor", "--json");
    engine.kill("SIGKILL");
    await engine.exited;
    expect(stdout).toMatch(/Only [56]\d\.\d MB are free/);
  });
});

unless(missing)("the demo ends if a port is taken, and leaves no process", async () => {
  const folder = aFolder();
  try {
    const taken = Bun.serve({ hostname: "127.0.0.1", port: 3002, fetch: () => new Response() });
    onTestFinished(() => taken.stop(true));
  } catch {
    // Another program has the port already.
  }
  const path = [dirname(rqlited), dirname(process.execPath), process.env["PATH"]].join(":");
  const demo = start({ PATH: path }, folder, ["sh", join(project, "deploy/cluster/demo")]);
  expect(await demo.exited).toBe(1);
  expect(demo.errors()).toMatch(/Port 300\d on 127\.0\.0\.1 is in use\.|rqlited/);
  const isRunning = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    } catch {
      return false;
    }
  };
  await until(() => !readdirSync("/proc").some((name) => /^\d+$/.test(name) && isRunning(name)));
});
