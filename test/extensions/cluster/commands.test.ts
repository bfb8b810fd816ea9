/** Commands on a cluster: each works through its local node, and every node shows its effect. */
import { expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../support/admin.ts";
import { aLead, linesOf, someLeads } from "../../support/builders.ts";
import { least, until } from "../../support/eventually.ts";
import { serve } from "../../support/harness.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, answerOf, expectSuccess, missing, storedBy } from "./cluster.ts";

const oldData =
  /^No majority of the cluster answers \([^\n]+\), so nothing can be written\. The local node may show old data\.$/m;

unless(missing).describe("commands on a cluster", () => {
  test("create accounts, pixels, and keys through any node, import a dropped file, and show the numbers", async () => {
    const { account, places } = await aCluster(someLeads(5));
    const [{ admin: one }, { admin: two }, last] = places;
    const { admin: three } = last;
    expect((await one.run("account", "create", "birch", "--json")).json).toMatchObject({ subscription: "active" });
    expect((await two.run("account", "create", "birch")).status).toBe(1);
    for (const id of ["px_1", "px_2", "px_3", "px_4", "px_5", "px_6"]) {
      const ended = await Promise.all(
        places.map(({ admin, node }) =>
          admin.run("pixel", "create", "birch", "--id", id, "--status", node.name, "--json"),
        ),
      );
      const created = ended.filter(({ status }) => status === 0).map(({ json }) => json);
      expect(created).toHaveLength(1);
      expect((await one.run("pixel", "list", "birch", "--json")).json).toContainEqual(
        expect.objectContaining(created[0] ?? {}),
      );
    }
    expect((await three.run("pixel", "set-status", "birch", "px_1", "paused")).status).toBe(0);
    expect((await one.run("pixel", "list", "birch", "--json")).json).toContainEqual(
      expect.objectContaining({ id: "px_1", status: "paused" }),
    );
    const { id, key } = (await three.run("key", "create", "birch", "--label", "x'41'", "--json")).json;
    expect((await one.run("key", "list", "birch", "--json")).json).toMatchObject([
      { id, label: "x'41'", prefix: key.slice(0, 8) },
    ] as object);
    expect((await two.give(key, "key", "check", "--json")).json).toMatchObject({ state: "active" });
    expect((await two.run("key", "revoke", id)).status).toBe(0);
    expect((await one.give(key, "key", "check", "--json")).json).toMatchObject({ state: "revoked" });
    for (const act of ["key.create", "key.revoke"]) expect((await three.run("audit", "list")).stdout).toContain(act);
    two.put(`inbox/${account.name}/import.json`, JSON.stringify({ pixel: "px_site" }));
    utimesSync(two.put(`inbox/${account.name}/leads.ndjson`, linesOf(someLeads(40))), 0, 0);
    expectSuccess(await two.run("inbox", join(two.folder, "inbox"), "--once", "--json"));
    expect(existsSync(join(two.folder, "inbox", account.name, "done/leads.ndjson"))).toBe(true);
    for (const place of places) {
      await until(async () => (await answerOf(place.as(), "/leads?limit=100")).body.data.length === 45);
    }
    const stats = async () => (await three.run("stats", account.name, "--json")).json;
    expect(await stats()).toMatchObject({ leads: { all: 45 } });
    // Asked once: each answer is one more request, which the file does not show yet.
    const answered = (await answerOf(last.as(), "/usage")).body.requests_today;
    await until(async () => {
      const requests = (await stats())["requests"] as { requests: number }[]; // As decided.
      return requests.reduce((sum, ofDay) => sum + ofDay.requests, 0) >= answered;
    });
    // A deactivated account gets no leads from any node, until it is activated.
    expectSuccess(await one.run("account", "deactivate", account.name));
    for (const place of places) expect((await answerOf(place.as(), "/leads")).status).toBe(403);
    await one.run("account", "activate", account.name);
    for (const place of places) await until(async () => (await place.as().get("/leads")).status === 200);
  });
});

unless(missing).describe("a backup of a cluster", () => {
  test("can be served without a cluster, and restored as the refusal describes, which keeps later erasures", async () => {
    const { account, key, places } = await aCluster([...someLeads(20_000), aLead({ email: "robin@example.com" })]);
    const [place, ...others] = places;
    const { admin } = place;
    const [older, now] = [join(admin.folder, "older.db"), join(admin.folder, "now.db")];
    // One of two with the same name is refused.
    const both = others.map((other) => other.admin.start("backup", older));
    expect((await Promise.all(both.map(({ exited }) => exited))).toSorted()).toEqual([0, 1]);
    expect(both.map(({ errors }) => errors()).join("")).toMatch(/ already exists|Another program has just created /);
    expect((await admin.run("backup", "--drill", older)).status).toBe(0);
    expect(readdirSync(admin.folder).filter((name) => name.startsWith("older"))).toHaveLength(2);
    const page = (await answerOf(place.as(), "/leads")).text;
    const served = join(admin.folder, "served.db");
    copyFileSync(older, served);
    expect((await (await serve({ file: served })).as(key).get("/leads")).text).toBe(page);
    await admin.run("lead", "erase", account.id, "--email", "robin@example.com");
    expect((await admin.run("backup", now, "--json")).json).toMatchObject({ leads: 20_000 });
    const { status, stderr } = await admin.run("restore", older);
    expect([status, stderr]).toEqual([1, expect.stringContaining("A cluster cannot be restored while its nodes run.")]);
    expect(stderr).toMatch(/Back up the cluster.+ restore that.+ then the older one.+ cluster init/s);
    const alone = anAdmin([]);
    for (const file of [now, older]) expect(await alone.run("restore", file)).toMatchObject({ status: 0 });
    expect(await alone.leads(account.id)).toHaveLength(20_000);
  });
});

unless(missing).describe("without other nodes, a command", () => {
  test("reads and backs up the local node with a warning, and reports soon that it cannot write", async () => {
    const { account, key, keyId, places } = await aCluster(someLeads(5));
    const [place, ...others] = places;
    const { admin } = place;
    for (const { engine } of others) engine.kill("SIGKILL");
    const listed = await admin.run("key", "list", account.name, "--json");
    expect([listed.status, listed.stderr]).toEqual([0, expect.stringMatching(oldData)]);
    expect(listed.json).toMatchObject([{ id: keyId }] as object);
    const file = join(admin.folder, "copy.db");
    const backup = await admin.run("backup", file, "--json");
    expect([backup.status, backup.stderr]).toEqual([0, expect.stringMatching(oldData)]);
    expect(backup.json).toMatchObject({ leads: 5 });
    expect(backup.stderr).toMatch(/^Warning: the audit log has no record of the backup \([^\n]+\)\.$/m);
    expect(await (await serve({ file })).as(key).get("/leads")).toMatchObject({ status: 200 });
    const create = async (name: string, says: string) => {
      const begunMs = performance.now();
      const ended = await admin.run("account", "create", name);
      expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining(says) });
      return performance.now() - begunMs;
    };
    expect(await least(25_000, () => create("birch", "The write timed out ("), 2)).toBeLessThan(25_000);
    await place.kill();
    const alone = () => create("cedar", "The rqlite node at CLUSTER does not answer");
    expect(await least(15_000, alone, 2)).toBeLessThan(15_000);
  });

  test("that watches a folder keeps the files while the local node starts, and imports them then", async () => {
    const { account, places } = await aCluster();
    const [place, other] = places;
    const { admin, node } = place;
    utimesSync(admin.put(`inbox/${account.name}/leads.ndjson`, JSON.stringify(someLeads(1)[0])), 0, 0);
    admin.put(`inbox/${account.name}/import.json`, JSON.stringify({ "create-pixels": true }));
    await place.kill();
    // As while a node reads its snapshot.
    renameSync(node.path, `${node.path}.away`);
    const inbox = admin.start("inbox", join(admin.folder, "inbox"));
    await inbox.complained(/its files are tried again: /);
    expect(inbox.child.exitCode).toBeNull();
    renameSync(`${node.path}.away`, node.path);
    await place.restart();
    await until(async () => (await storedBy(other)) === 1);
    await inbox.end();
  });
});
