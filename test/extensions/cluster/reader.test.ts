/** A program that keeps reading the file of a node, which only rqlite may do. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { openClusterDatabase } from "../../../extensions/cluster/database.ts";
import { openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { someLeads } from "../../support/builders.ts";
import { until } from "../../support/eventually.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aCluster, aNewKey, answerOf, missing, type Place } from "./cluster.ts";

/** Starts a program that reads a file within one transaction until it is ended. */
async function aReader(path: string) {
  const script = `import { Database } from "bun:sqlite";
    const database = new Database(process.env.FILE, { readonly: true });
    database.run("BEGIN");
    console.log(database.query("SELECT count(*) FROM accounts").all().length);
    setInterval(() => database.inTransaction, 1_000);`;
  const reader = start({ FILE: path }, undefined, [process.execPath, "-e", script]);
  await reader.said(/1/);
  return reader;
}

/** Writes more than rqlite leaves in a WAL. */
async function fillLog({ node }: Place): Promise<void> {
  const file = openNodeFile(node.path);
  const database = openClusterDatabase(file, node);
  await database.write([sql`CREATE TABLE filler (content TEXT)`]);
  for (let part = 0; part < 4; part++) await database.write([sql`INSERT INTO filler VALUES (hex(zeroblob(1000000)))`]);
  database.close();
}

/** Asks a server all the time. The result is the longest time in which it answered nothing. */
function watch(place: Place) {
  let isOver = false;
  async function ask(): Promise<number> {
    let [longestMs, lastMs] = [0, performance.now()];
    for (; !isOver; await Bun.sleep(50)) {
      if ((await place.as().get("/pixels")).status === 200) lastMs = performance.now();
      longestMs = Math.max(longestMs, performance.now() - lastMs);
    }
    return longestMs;
  }
  const asking = ask();
  return () => {
    isOver = true;
    return asking;
  };
}

unless(missing).describe("a program that keeps reading the file of the leader", () => {
  test("stops only the server next to it, and is named with the file by cluster status and doctor", async () => {
    const cluster = await aCluster(someLeads(3));
    const [stuck, [one, other]] = [await cluster.leader(), await cluster.followers()];
    const reader = await aReader(stuck.node.path);
    const silence = [one, other].map(watch);
    const filling = fillLog(one);
    const named = `(process ${reader.pid}) keeps reading ${stuck.node.path}`;
    await until(async () => (await one.admin.run("cluster", "status")).stdout.includes(named));
    const { stdout } = await stuck.admin.run("doctor");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(named);
    await filling;
    expect((await cluster.leader()).node.name).not.toBe(stuck.node.name);
    expect((await other.admin.run("key", "create", cluster.account.id)).status).toBe(0);
    expect(Math.max(...(await Promise.all(silence.map((end) => end()))))).toBeLessThan(1_000);
    await reader.end();
    await aNewKey(cluster, one);
    expect((await answerOf(stuck.as(), "/leads")).status).toBe(200);
  });
});
