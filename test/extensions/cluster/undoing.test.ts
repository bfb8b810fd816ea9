/** Taking an import back on a cluster: what the list says of it, also where it was cut short. */
import { expect, test } from "bun:test";
import type { Admin } from "../../support/admin.ts";
import { someLeads } from "../../support/builders.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, type Cluster, missing, storedBy, until } from "./cluster.ts";
import { printedBy } from "./nodes.ts";

async function imported(admin: Admin, { account }: Cluster, count: number): Promise<void> {
  const text = someLeads(count)
    .map((lead) => JSON.stringify(lead))
    .join("\n");
  await admin.give(text, "lead", "import", account.id, "-", "--create-pixels");
}

unless(missing).describe("a cluster of three nodes", () => {
  test.each(["SIGKILL", "SIGINT"] as const)(
    "lists an import whose undo was ended by %s as not finished, until the next undo completes it",
    async (signal) => {
      const cluster = await aCluster(someLeads(2));
      const [one, two] = cluster.places;
      const admin = cluster.admin(one);
      await imported(admin, cluster, 8000);
      const listed = () =>
        printedBy<object[]>(() => cluster.admin(two).run("import", "list", cluster.account.id, "--json"));
      const undo = admin.start("import", "undo", cluster.account.id, "1");
      await until(async () => (await storedBy(one.node)) < 8002);
      undo.kill(signal);
      await undo.exited;
      expect(await storedBy(one.node)).toBeGreaterThan(2);
      expect(await listed()).toMatchObject([{ import: 1, state: "not finished", finished_at: null }]);
      expect((await admin.run("import", "undo", cluster.account.id, "1")).status).toBe(0);
      expect(await listed()).toMatchObject([{ import: 1, state: "undone" }]);
      await until(async () => (await storedBy(two.node)) === 2);
    },
  );

  test("keeps the day of an import that is undone at once", async () => {
    const cluster = await aCluster(someLeads(2));
    const admin = cluster.admin(cluster.places[0]);
    await imported(admin, cluster, 1200);
    const listed = () =>
      printedBy<{ finished_at: string }[]>(() => admin.run("import", "list", cluster.account.id, "--json"));
    const [{ finished_at } = { finished_at: "" }] = await listed();
    expect((await admin.run("import", "undo", cluster.account.id, "1")).status).toBe(0);
    expect(await listed()).toMatchObject([{ state: "undone", finished_at }]);
  });
});
