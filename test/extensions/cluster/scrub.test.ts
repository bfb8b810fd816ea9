/** What was erased is gone from every byte of a machine, once its log is scrubbed. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Admin } from "../../support/admin.ts";
import { aLead, someLeads } from "../../support/builders.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, missing, type Place, until } from "./cluster.ts";

/** The files of a node's folder that hold a text, packed ones opened. */
function holding(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(folder, name);
    // The node may have removed it since.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    const bytes = readFileSync(path);
    return bytes.includes(text) || unpacked(bytes).some((part) => part.includes(text));
  });
}

/** Every stream within that begins as gzip does. */
function unpacked(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = bytes.indexOf("1f8b08", 0, "hex"); at >= 0; at = bytes.indexOf("1f8b08", at + 1, "hex")) {
    try {
      parts.push(gunzipSync(bytes.subarray(at), { finishFlush: 2 }));
    } catch {
      // It only looked like one.
    }
  }
  return parts;
}

unless(missing).describe("a cluster of three nodes", () => {
  test("has not one byte of an erased person after each log was scrubbed, and serves meanwhile", async () => {
    const cluster = await aCluster(someLeads(300));
    const [place] = cluster.places;
    const admin = cluster.admin(place);
    const person = aLead({ email: "gone.for.good@example.com", phone: "6195550177", name: "Gone Forgood" });
    const lines = [person, ...someLeads(50)].map((lead) => JSON.stringify(lead)).join("\n");
    await admin.give(lines, "lead", "import", cluster.account.id, "-");
    expect(holding(place.node.folder, "gone.for.good")).not.toEqual([]);
    await admin.run("lead", "erase", cluster.account.id, "--email", "gone.for.good@example.com");
    const status = async () => (await admin.run("cluster", "status")).stdout;
    expect(await status()).toContain("still have residual bytes");

    for (const one of cluster.places) {
      const ended = await scrub(one, cluster);
      expect(ended.status === 0 ? "" : ended.stderr).toBe("");
      await until(async () => (await cluster.as(one).get("/leads")).status === 200);
    }
    expect(await status()).not.toContain("still have");
    for (const { node } of cluster.places) {
      for (const text of ["gone.for.good", "6195550177", "Gone Forgood"])
        expect(holding(node.folder, text)).toEqual([]);
    }
  });
});

/** Leads of so many people, a second apart. */
const peopleFrom = (ms: number) =>
  Array.from({ length: 1_500 }, (_, number) => {
    const email = `visitor${number}of${ms}@example.com`;
    // Of different sizes: only a page that is fragmented keeps copies.
    const page_url = `https://example.com/${"a".repeat((number * 37 + ms) % 600)}`;
    return aLead({ email, page_url, identified_at: new Date(ms + number * 1_000).toISOString() });
  });

unless(missing).describe("a page that was split", () => {
  test("keeps no stale copy of an erased lead when the nodes were scrubbed", async () => {
    const cluster = await aCluster();
    const admin = cluster.admin(cluster.places[0]);
    // Those of the second import lie between those of the first.
    const [first, second] = [peopleFrom(0), peopleFrom(500)];
    for (const leads of [first, second]) {
      const lines = leads.map((lead) => JSON.stringify(lead)).join("\n");
      await admin.give(lines, "lead", "import", cluster.account.id, "-", "--create-pixels");
    }
    const gone = [...first, ...second].flatMap(({ email }, number) =>
      number % 3 > 0 || email === null ? [] : [email],
    );
    const erased = await admin.give(gone.join("\n"), "lead", "erase", cluster.account.id, "--list", "-");
    expect(erased.stderr).toContain("Erased 1,000 leads");
    for (const place of cluster.places) expect((await scrub(place, cluster)).status).toBe(0);
    for (const { node } of cluster.places) expect(gone.flatMap((email) => holding(node.folder, email))).toEqual([]);
  });
});

unless(missing).describe("a node that is scrubbed", () => {
  test("is started again though the command got a signal, and no other command scrubs it meanwhile", async () => {
    const cluster = await aCluster();
    const [place] = cluster.places;
    const admin = cluster.admin(place);
    const ended = await scrub(place, cluster, async (running) => {
      const other = await admin.run("cluster", "scrub", "--stop", "false", "--start", "false");
      expect(other).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("Another command is scrubbing this node"),
      });
      running.kill("SIGTERM");
    });
    expect(ended).toMatchObject({ status: 0 });
    expect((await admin.run("key", "list", cluster.account.id)).status).toBe(0);
  });
});

/** The supervisor of this node is the test: it looks for what the two commands leave behind. */
async function scrub(
  place: Place,
  cluster: Awaited<ReturnType<typeof aCluster>>,
  meanwhile: (running: ReturnType<Admin["start"]>) => Promise<void> = async () => {},
) {
  const admin = cluster.admin(place);
  const [stop, start] = [join(admin.folder, "stop"), join(admin.folder, "start")];
  const command = (file: string) => `touch ${file}; while [ ! -e ${file}ped ]; do sleep 0.02; done`;
  const running = admin.start("cluster", "scrub", "--stop", command(stop), "--start", command(start));
  await until(() => Bun.file(stop).exists(), 60_000);
  await meanwhile(running);
  place.engine.kill("SIGTERM");
  await place.engine.exited;
  await Bun.write(`${stop}ped`, "");
  await until(() => Bun.file(start).exists(), 60_000);
  const restarted = cluster.restart(place);
  await Bun.write(`${start}ped`, "");
  await restarted;
  return { status: await running.exited, stderr: await running.stderr.text() };
}
