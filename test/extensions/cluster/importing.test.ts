/** Imports into a cluster: each lead is stored once, and an undo, a retention, or an erasure removes it from every node. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startClients } from "../../../lab/faults/product/client.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { openConnection } from "../../../src/db/open.ts";
import { areResiduesLeft } from "../../../src/privacy/retention.ts";
import type { Admin } from "../../support/admin.ts";
import { aLead, linesOf, someLeads } from "../../support/builders.ts";
import { least, until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, answerOf, type Cluster, expectSuccess, missing, numberFrom, storedBy } from "./cluster.ts";
import { printedBy } from "./nodes.ts";

function importInto({ account }: Cluster, admin: Admin, leads: readonly Lead[], ...options: string[]) {
  return admin.give(linesOf(leads), "lead", "import", account.id, "-", "--json", "--create-pixels", ...options);
}

/** The leads of each node; each node has caught up. */
function onEveryNode({ account, places }: Cluster): Promise<Lead[][]> {
  return Promise.all(places.map(({ admin }) => admin.leads(account.id)));
}

/** Expects that all nodes have the same leads, and returns them. */
async function sameOnEveryNode(cluster: Cluster): Promise<Lead[]> {
  const [one = [], ...others] = await onEveryNode(cluster);
  for (const other of others) expect(other).toEqual(one);
  return one;
}

/** Leads of which some share each second. */
const tiedLeads = (count: number, perSecond: number) =>
  Array.from({ length: count }, (_, n) => {
    const ms = Date.parse("2026-01-30T10:00:00Z") + Math.floor(n / perSecond) * 1_000;
    return aLead({ identified_at: new Date(ms).toISOString(), pixel_id: `px_${n % 3}` });
  });

unless(missing).describe("an import into a cluster", () => {
  test("moves ties, counts duplicates, creates pixels, and is undone once by two commands, as with a file", async () => {
    const cluster = await aCluster(someLeads(2));
    const { account, places } = cluster;
    const [, { admin }, { admin: other }] = places;
    const before = await onEveryNode(cluster);
    const tied = tiedLeads(1_200, 100);
    const dry = await importInto(cluster, admin, tied, "--dry-run");
    const done = await importInto(cluster, admin, tied);
    for (const { json } of [dry, done]) {
      expect(json).toMatchObject({ read: 1200, imported: 1200, duplicates: 0, moved: 1188 });
    }
    const again = await importInto(cluster, other, tied);
    expect(again.json).toMatchObject({ imported: 0, duplicates: 1200, import: null });
    const listed = () => printedBy<{ finished_at: string }[]>(() => admin.run("import", "list", account.id, "--json"));
    const [{ finished_at } = { finished_at: "" }, ...more] = await listed();
    expect(more).toEqual([]);
    const undo = (by: Admin) => by.run("import", "undo", account.id, String(done.json["import"]), "--json");
    const removed = (await Promise.all([undo(admin), undo(other)])).map(({ json }) => Number(json["removed"]));
    expect(removed.reduce((sum, some) => sum + some, 0)).toBe(1200);
    expect(await listed()).toMatchObject([{ import: 1, imported: 1200, state: "undone", finished_at }]);
    const acts = await printedBy<{ act: string }[]>(() => admin.run("audit", "list", "--json"));
    expect(acts.filter(({ act }) => act === "import.undo")).toHaveLength(1);
    expect(await onEveryNode(cluster)).toEqual(before);
  });

  test("accepts leads of nearly 1 MiB, while every node continues to serve", async () => {
    const cluster = await aCluster(someLeads(1));
    const failed = await least(1, async () => {
      const leads = someLeads(60, { page_url: `https://example.com/${"x".repeat(900_000)}` });
      const askEach = cluster.places.map((place) => async () => (await place.as().get("/pixels")).status);
      const asking = startClients(askEach, 50);
      const done = await importInto(cluster, cluster.places[1].admin, leads);
      expect(done.status === 0 ? done.json : done.stderr).toMatchObject({ imported: 60 });
      return (await asking.end()).filter((status) => status !== 200).length;
    });
    expect(failed).toBe(0);
  });
});

unless(missing).describe("an import whose node ends", () => {
  test("goes on when the node is back, and stores each lead once", async () => {
    const cluster = await aCluster();
    const [place, other] = await cluster.followers();
    const file = place.admin.put("leads.ndjson", linesOf(someLeads(60_000)));
    const command = place.admin.start("lead", "import", cluster.account.id, file, "--create-pixels");
    await command.complained(/Writing: /);
    await place.kill();
    expect(await storedBy(other)).toBeLessThan(60_000);
    await place.restart();
    expectSuccess(await command.finished());
    expect(await storedBy(other)).toBe(60_000);
  });

  test("ends with the command to repeat if the node does not come back", async () => {
    const cluster = await aCluster();
    const [place, other] = await cluster.followers();
    const file = place.admin.put("leads.ndjson", linesOf(someLeads(60_000)));
    const command = place.admin.start("lead", "import", cluster.account.id, file, "--create-pixels");
    await command.complained(/Writing: /);
    await place.kill();
    const { status, stderr } = await command.finished();
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("Run the same command again, here or on another node: only"),
    ]);
    expectSuccess(await other.admin.run("lead", "import", cluster.account.id, file));
    expect(await storedBy(other)).toBe(60_000);
  });
});

unless(missing).describe("an undo on a cluster", () => {
  test("that was killed is completed by the next one, and that of a running import removes later leads, too", async () => {
    const cluster = await aCluster(someLeads(2));
    const { account, places } = cluster;
    const [one, two] = places;
    await importInto(cluster, one.admin, someLeads(8_000));
    const listed = () => printedBy<object[]>(() => two.admin.run("import", "list", account.id, "--json"));
    const undo = one.admin.start("import", "undo", account.id, "1");
    await until(async () => (await storedBy(one)) < 8_002);
    await undo.end("SIGKILL");
    expect(await storedBy(one)).toBeGreaterThan(2);
    expect(await listed()).toMatchObject([{ import: 1, state: "not finished", finished_at: null }]);
    expectSuccess(await one.admin.run("import", "undo", account.id, "1"));
    expect(await listed()).toMatchObject([{ import: 1, state: "undone" }]);
    await until(async () => (await storedBy(two)) === 2);
    const running = importInto(cluster, one.admin, someLeads(8_000));
    await until(async () => (await storedBy(two)) > 2);
    expectSuccess(await two.admin.run("import", "undo", account.id, "2"));
    await running;
    expect((await onEveryNode(cluster)).map(({ length }) => length)).toEqual([2, 2, 2]);
  });
});

unless(missing).describe("an erasure on a cluster", () => {
  test("keeps a stranger who replaces the person, and counts each lead for one of two commands", async () => {
    const persons = Array.from({ length: 1_500 }, (_, n) => aLead({ email: `person${n}@example.com` }));
    const cluster = await aCluster(persons);
    const [{ admin: one }, { admin: two }, { admin: three }] = cluster.places;
    const strangers = persons.map((lead, n) => ({ ...lead, email: `stranger${n}@example.com`, verified_email: null }));
    const list = one.put("list.txt", persons.map(({ email }) => email).join("\n"));
    const erase = (admin: Admin) => admin.run("lead", "erase", cluster.account.id, "--list", list, "--json");
    const [replaced, ...erased] = await Promise.all([
      importInto(cluster, two, strangers, "--on-duplicate", "replace"),
      erase(one),
      erase(three),
    ]);
    const count = erased.reduce((sum, ended) => sum + erasedBy(ended), 0);
    // The ID of an erased lead is blocked.
    expect(replaced.json).toMatchObject({ read: 1_500, imported: 0, suppressed: count, replaced: 1_500 - count });
    const left = await sameOnEveryNode(cluster);
    expect(left).toHaveLength(1_500 - count);
    expect(left.filter(({ email }) => !email?.startsWith("stranger"))).toEqual([]);
  });

  test("removes a person from every node, counts the lead once, and blocks imports of the person until they are unblocked", async () => {
    const person = aLead({ email: "gone@example.com", phone: "6195550123" });
    const cluster = await aCluster([...someLeads(3), person]);
    const { account, places } = cluster;
    const [{ admin: one }, { admin: two }, { admin: three }] = places;
    const ofPerson = [account.id, "--list", one.put("list.txt", "gone@example.com\n6195550123\n"), "--json"];
    const erased = await one.run("lead", "erase", ...ofPerson);
    expect(erased.json).toMatchObject([{ erased: 1 }, { erased: 0 }] as object);
    expect(erased.stderr).toContain("Erased 1 lead of 1 out of 2 persons");
    expect(erased.stderr).toContain("keep residual bytes until each is scrubbed: bun admin cluster scrub");
    for (const place of places) {
      expect((await answerOf(place.as(), "/leads")).text).not.toContain("gone@example.com");
    }
    expect(await areTracesInBackup(one)).toBe(false);
    const back = await importInto(cluster, two, [person, ...someLeads(2, { email: "new@example.com" })]);
    expect(back.json).toMatchObject({ imported: 2, suppressed: 1 });
    expect((await three.run("lead", "find", ...ofPerson)).json).toMatchObject([{ leads: [] }, { leads: [] }] as object);
    for (const given of [
      ["--email", "gone@example.com"],
      ["--phone", "6195550123"],
    ]) {
      expect((await three.run("lead", "unblock", account.id, ...given, "--json")).json).toMatchObject({ unblocked: 1 });
    }
    expect((await importInto(cluster, one, [person])).json).toMatchObject({ imported: 1 });
  });
});

unless(missing).describe("a retention on a cluster", () => {
  test("that Ctrl-C ended has removed some leads, and the next command removes the others from every node", async () => {
    const many = 8_000;
    const { account, places } = await aCluster([
      ...someLeads(many),
      aLead({ identified_at: new Date().toISOString() }),
    ]);
    const [one, two] = places;
    const revision = () => numberFrom(two.node, "SELECT sum(count) FROM cluster_revision");
    // The leads have the dates of the tests, which are long ago for the clock of the command, so that it would ask.
    const retain = ["retain", account.id, "--days", "7", "--yes"];
    const before = await revision();
    const child = one.admin.start(...retain);
    await until(async () => (await storedBy(one)) <= many);
    expect(await child.end("SIGINT")).toBe(130);
    const stopped = /^Stopped: ([\d,]+) of 8,000 older leads are erased, .*\n$/m.exec(child.errors());
    const gone = Number(stopped?.[1]?.replaceAll(",", ""));
    expect(await storedBy(two)).toBe(many + 1 - gone);
    // One for the new retention, and one for the leads that are gone.
    expect(await revision()).toBe(before + 2);
    expect(gone).toBeLessThan(many);
    const completed = await two.admin.run(...retain, "--json");
    expect(completed.json as unknown).toEqual({ days: 7, erased: many - gone });
    expect(await Promise.all(places.map(storedBy))).toEqual([1, 1, 1]);
  });
});

function erasedBy({ stdout }: { readonly stdout: string }): number {
  const each = JSON.parse(stdout) as { erased: number }[]; // As decided.
  return each.reduce((sum, { erased }) => sum + erased, 0);
}

/** Returns true if a server with a backup would rewrite the whole file to remove bytes of erased leads. */
async function areTracesInBackup(admin: Admin): Promise<boolean> {
  const file = join(aFolder(), "backup.db");
  await admin.run("backup", file);
  const backup = openConnection(file);
  try {
    return areResiduesLeft(backup);
  } finally {
    backup.$client.close();
  }
}
