/** Imports into a cluster: each lead once, whoever imports beside it, and whatever node is killed meanwhile. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Lead } from "../../../src/contract/lead.ts";
import { openAgain } from "../../../src/db/open.ts";
import { areResiduesLeft } from "../../../src/privacy/retention.ts";
import type { Admin } from "../../support/admin.ts";
import { aLead, someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { least } from "../../support/least.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, answerOf, type Cluster, missing, storedBy, until } from "./cluster.ts";
import { printedBy } from "./nodes.ts";

const lines = (leads: readonly Lead[]) => leads.map((lead) => JSON.stringify(lead)).join("\n");

function importInto(admin: Admin, cluster: Cluster, text: string, ...options: string[]) {
  return admin.give(text, "lead", "import", cluster.account.id, "-", "--json", "--create-pixels", ...options);
}

/** The leads of each node; each node has caught up. */
async function onEveryNode(cluster: Cluster): Promise<Lead[][]> {
  return Promise.all(cluster.places.map((place) => cluster.admin(place).leads(cluster.account.id)));
}

/** Whether the server of a restored backup would write the whole file anew, to look for bytes of erased leads. */
async function areTracesInBackup(admin: Admin): Promise<boolean> {
  const file = join(aFolder(), "backup.db");
  await admin.run("backup", file);
  const backup = openAgain(file);
  try {
    return areResiduesLeft(backup);
  } finally {
    backup.$client.close();
  }
}

/** Leads of twelve seconds, a hundred of each, from three pixels. */
const tiedLeads = () =>
  Array.from({ length: 1200 }, (_, n) =>
    aLead({
      identified_at: new Date(Date.parse("2026-01-30T10:00:00Z") + Math.floor(n / 100) * 1000).toISOString(),
      pixel_id: `px_${n % 3}`,
    }),
  );

/** Asks every node again and again; gives what was answered. */
function askEverywhere(cluster: Cluster): { end(): Promise<number[]> } {
  const statuses: number[] = [];
  let isOver = false;
  const asking = cluster.places.map(async (place) => {
    while (!isOver) {
      statuses.push((await cluster.as(place).get("/pixels")).status);
      await Bun.sleep(50);
    }
  });
  return {
    async end() {
      isOver = true;
      await Promise.all(asking);
      return statuses;
    },
  };
}

unless(missing).describe("a cluster of three nodes", () => {
  test("takes an import as a file does: ties moved, duplicates told, pixels made, and all of it undone", async () => {
    const cluster = await aCluster(someLeads(2));
    const admin = cluster.admin(cluster.places[1]);
    const before = await onEveryNode(cluster);
    const tied = tiedLeads();
    const dry = (await importInto(admin, cluster, lines(tied), "--dry-run")).json;
    const { json: first } = await importInto(admin, cluster, lines(tied));
    expect(first).toMatchObject({ read: 1200, imported: 1200, duplicates: 0, moved: 1188 });
    expect(dry).toMatchObject({ read: 1200, imported: 1200, duplicates: 0, moved: 1188 });
    const again = (await importInto(cluster.admin(cluster.places[2]), cluster, lines(tied))).json;
    expect(again).toMatchObject({ imported: 0, duplicates: 1200, import: null });
    const listed = await printedBy<object[]>(() => admin.run("import", "list", cluster.account.id, "--json"));
    expect(listed).toMatchObject([{ import: first["import"], imported: 1200 }]);
    expect((await admin.run("import", "undo", cluster.account.id, String(first["import"]))).status).toBe(0);
    expect(await onEveryNode(cluster)).toEqual(before);
  });

  test("takes one file at once through two nodes, each lead once, at a millisecond of its own", async () => {
    const cluster = await aCluster(someLeads(1));
    const leads = Array.from({ length: 3000 }, (_, n) =>
      aLead({ identified_at: new Date(Date.parse("2026-01-30T10:00:00Z") + Math.floor(n / 50) * 1000).toISOString() }),
    );
    const both = await Promise.all(
      cluster.places
        .slice(0, 2)
        .map(async (place) => (await importInto(cluster.admin(place), cluster, lines(leads))).json),
    );
    expect(both.map(({ imported }) => imported).reduce((sum, one) => sum + one, 0)).toBe(3000);
    const [one, ...others] = await onEveryNode(cluster);
    expect(new Set(one?.map(({ id }) => id)).size).toBe(3001);
    expect(new Set(one?.map(({ identified_at: at }) => at)).size).toBe(3001);
    for (const other of others) expect(other).toEqual(one ?? []);
  });

  test("takes leads of nearly 1 MiB, and every node answers meanwhile", async () => {
    const cluster = await aCluster(someLeads(1));
    const refused = await least(1, async () => {
      const leads = someLeads(60, { page_url: `https://example.com/${"x".repeat(900_000)}` });
      const asking = askEverywhere(cluster);
      const done = await importInto(cluster.admin(cluster.places[1]), cluster, lines(leads));
      expect(done.status === 0 ? done.json : done.stderr).toMatchObject({ imported: 60 });
      return (await asking.end()).filter((status) => status !== 200).length;
    });
    expect(refused).toBe(0);
  });

  test("goes on by itself when the leader is killed, and has what it counted on every node", async () => {
    const cluster = await aCluster(someLeads(1));
    const leads = someLeads(6000);
    const leader = await cluster.leader();
    const [follower] = await cluster.followers();
    if (follower === undefined) throw new Error("there are followers");
    const importing = importInto(cluster.admin(follower), cluster, lines(leads));
    await until(async () => (await storedBy(follower.node)) > 500);
    leader.engine.kill("SIGKILL");
    await leader.engine.exited;
    await cluster.restart(leader);
    const done = await importing;
    expect(done.status === 0 ? "" : done.stderr).toBe("");
    expect(done.json).toMatchObject({ imported: 6000, duplicates: 0 });
    await until(async () => (await cluster.as(leader).get("/pixels")).status === 200);
    const [one, ...others] = await onEveryNode(cluster);
    expect(one).toHaveLength(6001);
    for (const other of others) expect(other).toEqual(one ?? []);
  });
});

unless(missing).describe("a cluster that is to lose leads", () => {
  test("takes an import back that still runs through another node, with all that it adds meanwhile", async () => {
    const cluster = await aCluster(someLeads(2));
    const [one, other] = cluster.places.map((place) => cluster.admin(place));
    if (one === undefined || other === undefined) throw new Error("there are three nodes");
    const before = await onEveryNode(cluster);
    const running = importInto(one, cluster, lines(someLeads(8000)));
    await until(async () => (await storedBy(cluster.places[1].node)) > 2);
    expect((await other.run("import", "undo", cluster.account.id, "1")).status).toBe(0);
    await running;
    expect((await onEveryNode(cluster)).map(({ length }) => length)).toEqual(before.map(({ length }) => length));
  });

  test("erases no stranger who takes the place of a person, and counts each lead for one of two erasures", async () => {
    const persons = Array.from({ length: 1500 }, (_, n) => aLead({ email: `person${n}@example.com` }));
    const cluster = await aCluster(persons);
    const [one, two, three] = cluster.places.map((place) => cluster.admin(place));
    if (one === undefined || two === undefined || three === undefined) throw new Error("there are three nodes");
    const strangers = persons.map((lead, n) => ({ ...lead, email: `stranger${n}@example.com`, verified_email: null }));
    const list = one.put("list.txt", persons.map(({ email }) => email).join("\n"));
    const erase = (admin: Admin) => admin.run("lead", "erase", cluster.account.id, "--list", list, "--json");
    const [replaced, ...erased] = await Promise.all([
      importInto(two, cluster, lines(strangers), "--on-duplicate", "replace"),
      erase(one),
      erase(three),
    ]);
    const each = erased.flatMap(({ stdout }) => JSON.parse(stdout) as { erased: number }[]); // As decided.
    const count = each.reduce((sum, { erased: some }) => sum + some, 0);
    expect(replaced.json).toMatchObject({ read: 1500, imported: count, replaced: 1500 - count });
    const [left, ...others] = await onEveryNode(cluster);
    expect(left?.map(({ email }) => email).toSorted()).toEqual(strangers.map(({ email }) => email).toSorted());
    for (const other of others) expect(other).toEqual(left ?? []);
  });

  test("is told by two commands at once that an import is taken back, each lead by one of them", async () => {
    const cluster = await aCluster(someLeads(2));
    const [one, two] = cluster.places.map((place) => cluster.admin(place));
    if (one === undefined || two === undefined) throw new Error("there are three nodes");
    await importInto(one, cluster, lines(someLeads(2500)));
    const undo = (admin: Admin) => admin.run("import", "undo", cluster.account.id, "1", "--json");
    const removed = (await Promise.all([undo(one), undo(two)])).map(({ json }) => Number(json["removed"]));
    expect(removed.reduce((sum, some) => sum + some, 0)).toBe(2500);
    const acts = await printedBy<{ act: string }[]>(() => one.run("audit", "list", "--json"));
    expect(acts.filter(({ act }) => act === "import.undo")).toHaveLength(1);
  });

  test("counts the lead of a person once, who is in a list by e-mail address and by phone", async () => {
    const cluster = await aCluster([...someLeads(3), aLead({ email: "twice@example.com", phone: "6195550123" })]);
    const admin = cluster.admin(cluster.places[0]);
    const list = admin.put("list.txt", "twice@example.com\n6195550123\n");
    const ended = await admin.run("lead", "erase", cluster.account.id, "--list", list, "--json");
    const each = JSON.parse(ended.stdout) as { erased: number }[]; // As decided.
    expect(each.map(({ erased }) => erased)).toEqual([1, 0]);
    expect(ended.stderr).toContain("Erased 1 lead of 1 out of 2 persons");
  });

  test("erases a person on every node, and keeps them out of imports beside any until they are unblocked", async () => {
    const person = aLead({ email: "gone@example.com", phone: "6195550123" });
    const cluster = await aCluster([...someLeads(3), person]);
    const [one, two, three] = cluster.places.map((place) => cluster.admin(place));
    if (one === undefined || two === undefined || three === undefined) throw new Error("there are three nodes");
    const erased = await one.run("lead", "erase", cluster.account.id, "--email", "gone@example.com", "--json");
    expect(erased.json).toMatchObject({ erased: 1 });
    expect(erased.stderr).toContain("until bun admin cluster scrub has run there");
    for (const place of cluster.places) {
      expect((await answerOf(cluster.as(place), "/leads")).text).not.toContain("gone@example.com");
    }
    expect(await areTracesInBackup(one)).toBe(false);
    const back = (await importInto(two, cluster, lines([person, ...someLeads(2, { email: "new@example.com" })]))).json;
    expect(back).toMatchObject({ imported: 2, suppressed: 1 });
    const found = await three.run("lead", "find", cluster.account.id, "--email", "gone@example.com", "--json");
    expect(found.json).toMatchObject({ leads: [] });
    const lifted = await three.run("lead", "unblock", cluster.account.id, "--email", "gone@example.com", "--json");
    expect(lifted.json).toMatchObject({ unblocked: 1 });
    expect((await importInto(one, cluster, lines([person]))).json).toMatchObject({ imported: 1 });
    const retained = await two.run("retain", cluster.account.id, "--days", "1", "--yes", "--json");
    expect(retained.json).toMatchObject({ days: 1 });
    expect((await onEveryNode(cluster)).map(({ length }) => length)).toEqual([0, 0, 0]);
  });
});
