/** After its log is scrubbed, no file of a node has a byte of an erased person. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { request } from "../../../extensions/cluster/node.ts";
import { copyUsedPages } from "../../../extensions/cluster/raft-log.ts";
import { raftLogOf } from "../../../src/db/database-files.ts";
import type { Admin } from "../../support/admin.ts";
import { aLead, linesOf, someLeads } from "../../support/builders.ts";
import { until } from "../../support/eventually.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, expectSuccess, missing, type Place, supervised } from "./cluster.ts";

/** The files of a node's folder that contain one of some texts, compressed or not. */
function filesWith({ node }: Place, texts: readonly string[]): string[] {
  return readdirSync(node.folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(node.folder, name);
    // The node may have removed it since.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    const bytes = readFileSync(path);
    return [bytes, ...unpack(bytes)].some((part) => texts.some((text) => part.includes(text)));
  });
}

/** Decompresses every stream that begins like gzip. */
function unpack(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = bytes.indexOf("1f8b08", 0, "hex"); at >= 0; at = bytes.indexOf("1f8b08", at + 1, "hex")) {
    try {
      parts.push(gunzipSync(bytes.subarray(at), { finishFlush: 2 }));
    } catch {
      // It only looks like gzip.
    }
  }
  return parts;
}

/** Polls all servers until it is ended, and then returns the maximum number of servers that were unresponsive at once. */
function countUnresponsive(places: readonly Place[]) {
  let isOver = false;
  async function ask(): Promise<number> {
    let most = 0;
    for (; !isOver; await Bun.sleep(50)) {
      const answers = await Promise.all(places.map((place) => place.as().get("/pixels")));
      most = Math.max(most, answers.filter(({ status }) => status !== 200).length);
    }
    return most;
  }
  const asking = ask();
  return () => {
    isOver = true;
    return asking;
  };
}

/** Scrubs a node. */
const scrub = (place: Place, whileStopping?: (running: ReturnType<Admin["start"]>) => Promise<void>) =>
  supervised(place, "scrub", () => place.restart(), whileStopping);

unless(missing).describe("scrubbing", () => {
  test("removes every byte of erased persons from each node, even stale copies in split pages, with one unresponsive server at a time", async () => {
    const { account, places } = await aCluster(someLeads(300));
    const [place] = places;
    const { admin } = place;
    const person = aLead({ email: "gone.for.good@example.com", phone: "6195550177", name: "Gone Forgood" });
    // The times of the second import are between those of the first.
    const [first, second] = [[person, ...peopleFrom(0)], peopleFrom(500)];
    for (const leads of [first, second]) {
      await admin.give(linesOf(leads), "lead", "import", account.id, "-", "--create-pixels");
    }
    expect(filesWith(place, ["gone.for.good"])).not.toEqual([]);
    const emails = [...first, ...second].map(({ email }) => email ?? "");
    const gone = emails.filter((_, number) => number % 3 === 0);
    const erased = await admin.give(gone.join("\n"), "lead", "erase", account.id, "--list", "-");
    expect(erased.stderr).toContain("Erased 1,001 leads");
    // It rewrites no file, and says so.
    expect(erased.stderr.replaceAll(/\s+/g, " ")).toMatch(
      /No node has served the leads since \d+\.\d s after this command started\. The files of n1, n2, n3 keep residual/,
    );
    const status = async () => (await admin.run("cluster", "status")).stdout;
    expect(await status()).toContain("still have residual bytes");
    const unresponsive = countUnresponsive(places);
    for (const one of places) {
      expectSuccess(await scrub(one));
      await until(async () => (await one.as().get("/leads")).status === 200);
    }
    expect(await unresponsive()).toBe(1);
    expect(await status()).not.toContain("still have");
    for (const one of places) expect(filesWith(one, [...gone, "6195550177", "Gone Forgood"])).toEqual([]);
    // Later changes and restarts find a scrubbed snapshot as rqlite makes it.
    await admin.give(linesOf(peopleFrom(250)), "lead", "import", account.id, "-");
    for (const one of places) {
      await request(one.node, "POST", "/snapshot", 10_000, { body: "" });
      await one.kill();
      await one.restart();
    }
    const [exported, ...others] = await Promise.all(places.map((one) => one.admin.exported(account.id)));
    for (const other of others) expect(other).toBe(exported ?? "");
    expect(await status()).not.toContain("still have");
  });

  test("starts the node again after a signal, and no other command scrubs a node at the same time", async () => {
    const { account, places } = await aCluster();
    const [place] = places;
    const ended = await scrub(place, async (running) => {
      const other = await place.admin.run("cluster", "scrub", "--stop", "false", "--start", "false");
      expect([other.status, other.stderr]).toEqual([
        1,
        expect.stringContaining("Another command is scrubbing this node"),
      ]);
      const elsewhere = await places[1].admin.run("cluster", "scrub", "--stop", "false", "--start", "false");
      expect([elsewhere.status, elsewhere.stderr]).toEqual([1, expect.stringContaining("Node n1 is being scrubbed")]);
      running.child.kill("SIGTERM");
    });
    expectSuccess(ended);
    expectSuccess(await place.admin.run("key", "list", account.id));
    // A log may be larger than the memory.
    await place.kill();
    const log = raftLogOf(place.node.path);
    truncateSync(log, 2 ** 36);
    copyUsedPages(log, `${log}.copy`);
    expect(statSync(`${log}.copy`).size).toBe(2 ** 36);
  });
});

/** Leads of many people, a second apart. */
const peopleFrom = (ms: number) =>
  Array.from({ length: 1_500 }, (_, number) => {
    const email = `visitor${number}of${ms}@example.com`;
    // Of different sizes: only a fragmented page keeps copies.
    const page_url = `https://example.com/${"a".repeat((number * 37 + ms) % 600)}`;
    return aLead({ email, page_url, identified_at: new Date(ms + number * 1_000).toISOString() });
  });
