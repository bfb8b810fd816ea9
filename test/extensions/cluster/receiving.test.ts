/** What vendors deliver beside a node: a source that is revoked, or a person who is erased, beside another one. */
import { expect, test } from "bun:test";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { someLeads } from "../../support/builders.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, type Cluster, missing, type Place, settingsOf, until } from "./cluster.ts";

/** Takes deliveries beside a node, and imports them every few seconds. */
async function receiveBeside({ node }: Place, everySeconds: number): Promise<{ url: string }> {
  const settings = { ...settingsOf(node), RECEIVE_HOST: new URL(node.url).hostname, RECEIVE_PORT: "0" };
  const child = anAdmin([], settings).start("receive", "--every", String(everySeconds));
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const url = /^listening on (\S+)$/m.exec(text)?.[1];
    if (url !== undefined) return { url };
  }
  throw new Error(await child.stderr.text());
}

async function aSource(admin: Admin, { account }: Cluster): Promise<{ id: string; path: string }> {
  const ended = await admin.run("source", "create", account.id, "--pixel", "px_site", "--json");
  const { id, url }: { id: string; url: string } = JSON.parse(ended.stdout);
  return { id, path: new URL(url).pathname };
}

async function deliver(address: string, ...emails: readonly string[]): Promise<number> {
  const body = emails.map((email) => JSON.stringify({ email, name: "Some One" })).join("\n");
  const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "application/x-ndjson" }, body });
  return answer.status;
}

/** Revokes a source by another node while one stands still; gives the end of the command, and what a delivery gets there. */
async function revokeBeside({ engine }: Place, by: Admin, id: string, address: string) {
  engine.kill("SIGSTOP");
  const ended = await by.run("source", "revoke", id, "--yes");
  const status = await deliver(address, "two@example.com");
  engine.kill("SIGCONT");
  return { ended, status };
}

/** As if no server had ever run beside the node. */
async function forgetServer({ node }: Place): Promise<void> {
  const body = JSON.stringify([["DELETE FROM nodes WHERE name = ?", node.name]]);
  const headers = { "Content-Type": "application/json" };
  expect((await fetch(`${node.url}/db/execute`, { method: "POST", headers, body })).status).toBe(200);
}

unless(missing).describe("deliveries to a cluster", () => {
  test("are taken for a revoked source by nobody once the command has returned, where a node stands still either", async () => {
    const cluster = await aCluster(someLeads(1));
    const [still, other] = await cluster.followers();
    if (still === undefined || other === undefined) throw new Error("there are two followers");
    const { id, path } = await aSource(cluster.admin(other), cluster);
    const { url } = await receiveBeside(still, 3600);
    await until(async () => (await deliver(url + path, "one@example.com")) === 200);
    const { ended, status } = await revokeBeside(still, cluster.admin(other), id, url + path);
    expect(ended.status === 0 ? "" : ended.stderr).toBe("");
    expect(status).toBe(503);
    await until(async () => (await deliver(url + path, "two@example.com")) === 401);
  });

  test("are taken for a revoked source by nobody beside a node of which no server has told", async () => {
    const cluster = await aCluster(someLeads(1));
    const [still, other] = await cluster.followers();
    if (still === undefined || other === undefined) throw new Error("there are two followers");
    const { id, path } = await aSource(cluster.admin(other), cluster);
    await still.server.end("SIGKILL");
    await forgetServer(still);
    const { url } = await receiveBeside(still, 3600);
    await until(async () => (await deliver(url + path, "one@example.com")) === 200);
    const { ended, status } = await revokeBeside(still, cluster.admin(other), id, url + path);
    expect(ended.stderr).toContain(`${still.node.name} is unreachable`);
    expect(status).toBe(503);
  });

  test.each(["a server", "no server"])(
    "are taken beside a node that has left by nobody, where %s had told of it",
    async (what) => {
      const cluster = await aCluster(someLeads(1));
      const [leaving, other] = await cluster.followers();
      if (leaving === undefined || other === undefined) throw new Error("there are two followers");
      const { path } = await aSource(cluster.admin(other), cluster);
      if (what === "no server") {
        await leaving.server.end("SIGKILL");
        await forgetServer(leaving);
      }
      const { url } = await receiveBeside(leaving, 3600);
      await until(async () => (await deliver(url + path, "one@example.com")) === 200);
      expect((await cluster.admin(other).run("cluster", "leave", leaving.node.name)).stderr).toBe("");
      expect(await deliver(url + path, "two@example.com")).toBe(503);
    },
  );

  test("are kept out where the person is erased beside another node while they wait", async () => {
    const cluster = await aCluster(someLeads(1));
    const [one, two] = cluster.places;
    const { path } = await aSource(cluster.admin(one), cluster);
    const { url } = await receiveBeside(one, 10);
    await until(async () => (await deliver(url + path, "gone@example.com", "stays@example.com")) === 200);
    const erased = await cluster.admin(two).run("lead", "erase", cluster.account.id, "--email", "gone@example.com");
    expect(erased.status === 0 ? "" : erased.stderr).toBe("");
    const exported = async () => (await cluster.admin(two).run("lead", "export", cluster.account.id)).stdout;
    await until(async () => (await exported()).includes("stays@example.com"));
    expect(await exported()).not.toContain("gone@example.com");
  });
});
