/** The commands on a cluster: each works through the node beside, and what it did is there on every node. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../support/admin.ts";
import { aLead, someLeads } from "../../support/builders.ts";
import { serve } from "../../support/harness.ts";
import { least } from "../../support/least.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, answerOf, missing, settingsOf, storedBy, until } from "./cluster.ts";

unless(missing).describe("a cluster of three nodes", () => {
  test("keeps accounts, pixels and keys, whichever node a command stands beside", async () => {
    const cluster = await aCluster();
    const [one, two, three] = cluster.places.map((place) => cluster.admin(place));
    if (one === undefined || two === undefined || three === undefined) throw new Error("there are three nodes");
    expect((await one.run("account", "create", "birch", "--json")).json).toMatchObject({ subscription: "active" });
    expect((await two.run("account", "create", "birch")).status).toBe(1);
    expect((await two.run("pixel", "create", "birch", "--id", "px_1")).status).toBe(0);
    expect((await three.run("pixel", "set-status", "birch", "px_1", "paused")).status).toBe(0);
    expect(JSON.parse((await one.run("pixel", "list", "birch", "--json")).stdout)).toMatchObject([
      { id: "px_1", status: "paused" },
    ]);
    const made = (await three.run("key", "create", "birch", "--label", "x'41'", "--json")).json;
    expect(JSON.parse((await one.run("key", "list", "birch", "--json")).stdout)).toMatchObject([
      { id: made.id, label: "x'41'", prefix: made.key.slice(0, 8) },
    ]);
    expect((await two.give(made.key, "key", "check", "--json")).json).toMatchObject({ state: "active" });
    expect((await two.run("key", "revoke", made.id)).status).toBe(0);
    expect((await one.give(made.key, "key", "check", "--json")).json).toMatchObject({ state: "revoked" });
    const acts = JSON.parse((await three.run("audit", "list", "--json")).stdout) as { act: string }[]; // As decided.
    expect(acts.map(({ act }) => act)).toEqual(expect.arrayContaining(["key.create", "key.revoke"]));
  });

  test("makes a pixel once, which commands beside all nodes ask for at once, and tells one of them that it did", async () => {
    const cluster = await aCluster();
    const admins = cluster.places.map((place) => cluster.admin(place));
    const { name } = cluster.account;
    for (const id of ["px_1", "px_2", "px_3", "px_4", "px_5", "px_6"]) {
      const make = (status: string) => ["pixel", "create", name, "--id", id, "--status", status, "--json"];
      const ended = await Promise.all(admins.map((admin, place) => admin.run(...make(`made_by_${place}`))));
      const made = ended.flatMap(({ status, stdout }) => (status === 0 ? [JSON.parse(stdout) as object] : [])); // As decided.
      const listed = await admins[0]?.run("pixel", "list", name, "--json");
      expect(made).toHaveLength(1);
      expect(JSON.parse(listed?.stdout ?? "[]")).toContainEqual(expect.objectContaining(made[0] ?? {}));
    }
  });
});

unless(missing).describe("a cluster that serves", () => {
  test("makes a backup that a server without a cluster serves, and refuses to restore", async () => {
    const leads = someLeads(5);
    const cluster = await aCluster(leads);
    const [place] = cluster.places;
    const admin = cluster.admin(place);
    const file = join(admin.folder, "copy.db");
    expect((await admin.run("backup", file, "--json")).json).toMatchObject({ leads: 5 });
    const appliance = await serve({ file });
    expect((await appliance.as(cluster.key).get("/leads")).text).toBe(
      (await answerOf(cluster.as(place), "/leads")).text,
    );
    const refused = await admin.run("restore", file);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("A cluster cannot be restored while its nodes serve.");
  });

  test("makes one backup of a name that commands beside two nodes are asked for at once", async () => {
    const cluster = await aCluster(someLeads(20_000));
    const admin = cluster.admin(cluster.places[0]);
    const file = join(admin.folder, "copy.db");
    const both = cluster.places.slice(1).map((place) => cluster.admin(place).start("backup", file));
    expect((await Promise.all(both.map(({ exited }) => exited))).toSorted()).toEqual([0, 1]);
    expect((await Promise.all(both.map(({ stderr }) => stderr.text()))).join("")).toMatch(
      / already exists|Another program has just created /,
    );
    expect((await admin.run("backup", "--drill", file)).status).toBe(0);
    expect(readdirSync(admin.folder).filter((name) => name.startsWith("copy"))).toHaveLength(2);
  });

  test("goes on after a restore with what was erased since the backup, as the refusal says how", async () => {
    const cluster = await aCluster([...someLeads(5), aLead({ email: "robin@example.com" })]);
    const admin = cluster.admin(cluster.places[0]);
    const [older, now] = [join(admin.folder, "older.db"), join(admin.folder, "now.db")];
    await admin.run("backup", older);
    await admin.run("lead", "erase", cluster.account.id, "--email", "robin@example.com");
    await admin.run("backup", now);
    const { stderr } = await admin.run("restore", older);
    expect(stderr).toMatch(/backup of it as it is.+ restore that.+ then the older one over it.+ cluster init/s);
    const alone = anAdmin([]);
    for (const file of [now, older]) expect(await alone.run("restore", file)).toMatchObject({ status: 0 });
    expect((await alone.leads(cluster.account.id)).length).toBe(5);
  });

  test("takes a file that is dropped into a folder, and tells the numbers of an account", async () => {
    const cluster = await aCluster(someLeads(5));
    const [first, second, third] = cluster.places;
    const admin = cluster.admin(second);
    const text = someLeads(40).map((lead) => JSON.stringify(lead));
    const settings = JSON.stringify({ pixel: "px_site" });
    admin.put(`inbox/${cluster.account.name}/import.json`, settings);
    admin.put(`inbox/${cluster.account.name}/leads.ndjson`, text.join("\n"));
    const ended = await admin.run("inbox", join(admin.folder, "inbox"), "--once", "--json");
    expect([ended.status, ended.status === 0 ? "" : ended.stderr]).toEqual([0, ""]);
    expect(existsSync(join(admin.folder, "inbox", cluster.account.name, "done/leads.ndjson"))).toBe(true);
    for (const place of cluster.places) {
      const page = async () => (await answerOf(cluster.as(place), "/leads?limit=100")).body.data;
      await until(async () => (await page()).length === 45);
    }
    await answerOf(cluster.as(first), "/leads");
    const told = async () => (await cluster.admin(third).run("stats", cluster.account.name, "--json")).json;
    expect(await told()).toMatchObject({ leads: { all: 45 } });
    // Asked once: each answer is a request more, and would always be ahead of the counts in the file.
    const answered = (await answerOf(cluster.as(third), "/usage")).body.requests_today;
    await until(async () => {
      const requests = (await told())["requests"] as { requests: number }[]; // As decided.
      return requests.reduce((sum, ofDay) => sum + ofDay.requests, 0) >= answered;
    });
  });
});

unless(missing).describe("a cluster whose nodes are away", () => {
  test("keeps what is dropped into a folder while the node beside starts, and takes it then", async () => {
    const cluster = await aCluster();
    const [place, { node: other }] = cluster.places;
    const admin = anAdmin([], settingsOf(place.node));
    admin.put(`inbox/${cluster.account.name}/leads.ndjson`, JSON.stringify(someLeads(1)[0]));
    admin.put(`inbox/${cluster.account.name}/import.json`, JSON.stringify({ "create-pixels": true }));
    place.engine.kill("SIGKILL");
    await place.engine.exited;
    // As a node has it that reads its snapshot.
    renameSync(place.node.path, `${place.node.path}.away`);
    const inbox = admin.start("inbox", join(admin.folder, "inbox"));
    let said = "";
    const reading = (async () => {
      for await (const text of inbox.stderr.pipeThrough(new TextDecoderStream())) said += text;
    })();
    await until(() => said.includes("its files are tried again: "));
    expect(inbox.exitCode).toBeNull();
    renameSync(`${place.node.path}.away`, place.node.path);
    await cluster.restart(place);
    await until(async () => (await storedBy(other)) === 1);
    inbox.kill("SIGTERM");
    await reading;
  });

  test("reads what its node has where no majority is heard, and says so", async () => {
    const cluster = await aCluster();
    const [first, ...others] = cluster.places;
    for (const { engine } of others) engine.kill("SIGKILL");
    const listed = await cluster.admin(first).run("key", "list", cluster.account.name, "--json");
    expect(listed.status).toBe(0);
    expect(listed.stderr).toMatch(
      /^No majority of the cluster answers \([^\n]+\), so nothing can be written\. The local node may show old data\.\n$/,
    );
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id: cluster.keyId }]);
  });

  test("backs up what a node has that is left alone, and says that it may be old and is not on record", async () => {
    const cluster = await aCluster(someLeads(5));
    const [first, ...others] = cluster.places;
    for (const { engine } of others) engine.kill("SIGKILL");
    const admin = cluster.admin(first);
    const file = join(admin.folder, "copy.db");
    const ended = await admin.run("backup", file, "--json");
    expect([ended.status, JSON.parse(ended.stdout)]).toMatchObject([0, { leads: 5 }]);
    expect(ended.stderr).toMatch(
      /^No majority of the cluster answers \([^\n]+\), so nothing can be written\. The local node may show old data\.$/m,
    );
    expect(ended.stderr).toMatch(/^Warning: the audit has no record of the backup \([^\n]+\)\.$/m);
    expect(await (await serve({ file })).as(cluster.key).get("/leads")).toMatchObject({ status: 200 });
  });

  test("says soon that the node beside is not there, or that no majority takes a write", async () => {
    const cluster = await aCluster();
    const [first, ...others] = cluster.places;
    const create = async (name: string, says: string) => {
      const begunMs = performance.now();
      const ended = await cluster.admin(first).run("account", "create", name);
      expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining(says) });
      return performance.now() - begunMs;
    };
    for (const { engine } of others) engine.kill("SIGKILL");
    const unheard = () => create("birch", "The write timed out (");
    expect(await least(25_000, unheard, 2)).toBeLessThan(25_000);
    first.engine.kill("SIGKILL");
    await first.engine.exited;
    const alone = () => create("cedar", "The rqlite node at CLUSTER does not answer");
    expect(await least(15_000, alone, 2)).toBeLessThan(15_000);
  });
});
