/** A disk without room: reading goes on, counts wait in memory, and an orderly stop writes them. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { eventually } from "../support/eventually.ts";
import { client } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { aSmallDisk, fill } from "../support/small-disk.ts";
import { requestsIn } from "./running.ts";

const rows = Array.from({ length: 300 }, (_, n) => `2026-01-31,px,d${n}@example.com\n`).join("");

/** A file with 300 leads and a key on a disk of its own. */
async function aFileOnSmallDisk() {
  const disk = aSmallDisk(anAdmin([]).folder, "size=8m");
  const admin = anAdmin([], { DATABASE_PATH: join(disk.path, "leadfile.db") });
  const file = join(disk.path, "leadfile.db");
  await admin.run("account", "create", "acme");
  await admin.import(`date,pixel_id,email\n${rows}`);
  const { id, key } = (await admin.run("key", "create", "acme", "--json")).json;
  const serve = async () => {
    const server = start({ DATABASE_PATH: file });
    return { server, get: client(await server.listening(), { Authorization: `Bearer ${key}` }).get };
  };
  return { disk, admin, file, serve, id, makeRoom: () => rmSync(join(disk.path, "rest")) };
}

needing("mount")("on a full disk, leads are exported, found, and backed up to another disk", async () => {
  const { disk, admin, file } = await aFileOnSmallDisk();
  using _ = disk;
  const kept = join(disk.path, "kept.db");
  expect((await admin.run("backup", kept)).status).toBe(0);
  // A server has the log open.
  using other = new Database(file);
  other.query("SELECT name FROM accounts").get();
  fill(disk.path);
  for (const line of [`backup --drill ${kept}`, "upgrade --check"])
    expect((await admin.run(...line.split(" "))).stderr).toMatch(
      /^The disk of \S+ is full\. Free some space, [^\n]+\n$/,
    );
  const exported = await admin.run("lead", "export", "acme");
  expect([exported.status, exported.stdout.split("\n").length - 1]).toEqual([0, 300]);
  expect(exported.stderr).toMatch(/^Warning: the audit log has no record of the export [^\n]+full[^\n]+\n$/);
  const found = await admin.run("lead", "find", "acme", "--email", "d7@example.com", "--json");
  expect(found).toMatchObject({ status: 0, json: { leads: [{ email: "d7@example.com" }] } });
  const copy = join(admin.folder, "copy.db");
  const backup = await admin.run("backup", copy, "--json");
  expect(backup).toMatchObject({ status: 0, json: { leads: 300 } });
  expect(backup.stderr).toMatch(/^Warning: the audit log has no record of the backup [^\n]+full[^\n]+$/m);
  expect((await admin.run("backup", "--drill", copy)).status).toBe(0);
});

needing("mount")(
  "a server starts on a full disk, says so, answers, and loses no count and no page when there is room again",
  async () => {
    const { disk, admin, file, serve, makeRoom } = await aFileOnSmallDisk();
    using _ = disk;
    fill(disk.path);
    const { server, get } = await serve();
    await server.said(
      /"msg":"the disk is full: requests are served, and their counts are kept in memory until there is space"/,
    );
    expect((await get("/leads")).body.data).toHaveLength(25);
    expect((await get("/usage")).body.requests_today).toBe(2);
    makeRoom();
    await eventually(async () => expect(requestsIn(file)).toBe(2));
    expect(await server.end("SIGTERM")).toBe(0);
    const { received, gaps } = (await admin.run("lead", "find", "acme", "--email", "d299@example.com", "--json")).json;
    expect({ received, gaps }).toMatchObject({ received: [{ label: null }], gaps: [] });
  },
);

needing("mount")(
  "an orderly stop on a full disk writes every count and every page into its reserve, be it that of a killed server",
  async () => {
    const { disk, admin, file, serve, id } = await aFileOnSmallDisk();
    using _ = disk;
    const killed = await serve();
    await killed.server.end("SIGKILL");
    expect(existsSync(`${file}.reserve`)).toBe(true);
    const { server, get } = await serve();
    fill(disk.path);
    for (let request = 0; request < 5; request++) expect((await get("/leads")).status).toBe(200);
    expect([await server.end("SIGTERM"), server.errors()]).toEqual([0, ""]);
    expect(requestsIn(file)).toBe(5);
    expect(existsSync(`${file}.reserve`)).toBe(false);
    const { received } = (await admin.run("lead", "find", "acme", "--email", "d299@example.com", "--json")).json;
    expect(received).toMatchObject([{ key: id }]);
  },
);

needing("mount")("a server that began and ended on a full disk says what was lost, and a gap is recorded", async () => {
  const { disk, admin, serve, makeRoom } = await aFileOnSmallDisk();
  using _ = disk;
  fill(disk.path);
  const first = await serve();
  expect((await first.get("/leads")).status).toBe(200);
  expect([await first.server.end("SIGTERM"), first.server.errors()]).toEqual([
    1,
    expect.stringMatching(/^The last request counts and the record [^\n]+ were lost \(.*is full\)\. [^\n]+\n$/),
  ]);
  const find = ["lead", "find", "acme", "--email", "d299@example.com", "--json"] as const;
  expect((await admin.run(...find)).json["gaps"]).toMatchObject([{ reason: "disk" }]);
  makeRoom();
  const next = await serve();
  expect(await next.server.end("SIGTERM")).toBe(0);
  expect((await admin.run(...find)).json["gaps"]).toMatchObject([{ reason: "disk" }]);
});
