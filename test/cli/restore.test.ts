/** bun admin restore: a backup becomes the database, whole or not at all, and whoever was erased stays erased. */

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin, anAdminAlone } from "../admin.ts";
import { filesWith } from "../bytes.ts";
import { client } from "../harness.ts";
import { start } from "../process.ts";

const header = "date,pixel_id,email,phone\n";
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `2026-01-31,px,d${from + n}@example.com,155501${1000 + from + n}\n`).join(
    "",
  );

/** A file with a backup of itself. */
async function aBackup(count = 20) {
  const admin = await anAdminAlone();
  await admin.import(header + rows(0, count));
  const file = join(admin.folder, "copy.db");
  expect((await admin.run("backup", file)).status).toBe(0);
  return { admin, file };
}

/** Writes a manifest that fits a file that is none of ours. */
function fitManifest(file: string, over: object = {}): void {
  const path = `${file}.manifest.json`;
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
  writeFileSync(path, JSON.stringify({ ...manifest, sha256, bytes: statSync(file).size, ...over }));
}

const kept = ({ folder }: Admin) => readdirSync(folder).filter((name) => name.includes(".replaced-"));

test("the backup is the database from then on, and the file before is kept beside it", async () => {
  const { admin, file } = await aBackup();
  const before = await admin.leads();
  await admin.import(header + rows(20, 30));
  const { status, stdout, stderr } = await admin.run("restore", file, "--json");
  expect({ status, ...JSON.parse(stdout) }).toEqual({ status: 0, leads: 20, erased_again: 0 });
  expect(await admin.leads()).toEqual(before);
  const [old = ""] = kept(admin);
  expect(old).toMatch(/^leadfile\.db\.replaced-\d{4}-\d\d-\d\dT/);
  expect(stderr).toContain(old);
  for (const name of [old, "leadfile.db"]) expect(statSync(join(admin.folder, name)).mode & 0o777).toBe(0o600);
  using replaced = new Database(join(admin.folder, old));
  expect(replaced.query("SELECT count(*) FROM stored_leads").values()).toEqual([[30]]);
});

test("a machine that has nothing but the backup and its manifest gets everything back, keys too", async () => {
  const { admin, file } = await aBackup();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const later = join(admin.folder, "later.db");
  await admin.run("backup", later);
  const other = anAdmin([]);
  for (const name of ["later.db", "later.db.manifest.json"])
    copyFileSync(join(admin.folder, name), join(other.folder, name));
  // What a file that was deleted has left behind would be served with the new one.
  for (const suffix of ["-wal", "-shm"]) writeFileSync(other.file + suffix, "stale");
  expect(await other.run("restore", join(other.folder, "later.db"))).toMatchObject({ status: 0 });
  expect(
    [`${other.file}-wal`, `${other.file}-shm`].map((path) => existsSync(path) && readFileSync(path, "utf8")),
  ).not.toContain("stale");
  expect(await other.leads()).toEqual(await admin.leads());
  expect((await other.give(key, "key", "check")).status).toBe(0);
  expect(existsSync(file)).toBe(true);
});

describe("who was erased after the backup", () => {
  const asked = ["lead", "erase", "acme", "--email"];

  test("is erased again from it, bytes and all, and stays out", async () => {
    const { admin, file } = await aBackup();
    await admin.run(...asked, "D7@example.com");
    const { json } = await admin.run("restore", file, "--json");
    expect(json).toMatchObject({ leads: 19, erased_again: 1 });
    rmSync(file);
    expect(filesWith(admin.folder, "d7@example.com", "1555011007")).toEqual([]);
    expect((await admin.import(header + rows(7, 8))).json).toMatchObject({ suppressed: 1, imported: 0 });
  });

  test.each([
    ["as it is printed", []],
    ["as --json prints it", ["--json"]],
  ])("is erased again by the receipt, %s, where the machine was lost", async (_, json) => {
    const { admin, file } = await aBackup();
    const receipts: string[] = [];
    for (const person of ["d7@example.com", "d8@example.com"])
      receipts.push((await admin.run(...asked, person, ...json)).stdout);
    const list = admin.put("receipts.ndjson", receipts.join("\n"));
    const other = anAdmin([]);
    const ended = await other.run("restore", file, "--receipts", list, "--json");
    expect({ status: ended.status, ...ended.json }).toMatchObject({ status: 0, leads: 18, erased_again: 2 });
    expect(filesWith(other.folder, "d7@example.com", "d8@example.com")).toEqual([]);
    expect((await other.import(header + rows(6, 9))).json).toMatchObject({ suppressed: 2, duplicates: 1 });
  });

  test("is erased again by a receipt behind one of an account that the backup does not have", async () => {
    const { admin, file } = await aBackup();
    await admin.run("account", "create", "later");
    const receipts: string[] = [];
    for (const account of ["later", "acme"])
      receipts.push((await admin.run("lead", "erase", account, "--email", "d7@example.com")).stdout);
    const list = admin.put("receipts.ndjson", receipts.join(""));
    const { json } = await anAdmin([]).run("restore", file, "--receipts", list, "--json");
    expect(json).toMatchObject({ leads: 19, erased_again: 1 });
  });

  test.each([
    ["a text", "hello"],
    ["JSON that is no receipt", '{"erased_at":"2026-01-31T00:00:00Z","account":"acc_x","hashes":[]}'],
    [
      "a receipt of another instance",
      JSON.stringify({
        erased_at: "2026-01-31T00:00:00Z",
        account: "acc_x",
        instance: "ins_x",
        hashes: ["0".repeat(64)],
      }),
    ],
  ])("by %s is not, and nothing is restored", async (_, text) => {
    const { admin, file } = await aBackup();
    await admin.import(header + rows(20, 30));
    const { status, stderr } = await admin.run("restore", file, "--receipts", admin.put("receipts", text));
    expect(status).toBe(1);
    expect(stderr).toMatch(/^[^\n]{20,}\n$/);
    expect(await admin.leads()).toHaveLength(30);
  });
});

test("a key that was revoked after the backup stays revoked, and retention that was set holds on", async () => {
  const admin = await anAdminAlone();
  const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
  await admin.run("key", "revoke", id);
  await admin.run("retain", "acme", "--days", "30");
  expect((await admin.run("restore", file)).status).toBe(0);
  expect((await admin.give(key, "key", "check", "--json")).json).toMatchObject({ state: "revoked" });
  expect((await admin.import("date,email,pixel_id\n2020-01-31,a@example.com,px\n")).json).toMatchObject({
    rejected: 1,
  });
  const acts: { act: string }[] = JSON.parse((await admin.run("audit", "list", "--json")).stdout);
  expect(acts.map(({ act }) => act)).toEqual(["restore", "retain.set", "key.revoke", "backup", "key.create"]);
});

test("a key that was rotated after the backup ends when it was to", async () => {
  const admin = await anAdminAlone();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
  const ends = (await admin.run("key", "rotate", id, "--json")).json["old_expires_at"];
  expect((await admin.run("restore", file)).status).toBe(0);
  const keys = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
  expect(keys).toMatchObject([{ id, state: "active", expires_at: ends }]);
});

test("a subscription is as it was set last, and keys that were made and revoked since stay revoked", async () => {
  const admin = await anAdminAlone(["acme", "other"]);
  await admin.run("account", "deactivate", "other");
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
  await admin.run("account", "deactivate", "acme");
  await admin.run("account", "activate", "other");
  const made = [];
  for (const label of ["revoked", "live"])
    made.push((await admin.run("key", "create", "acme", "--label", label, "--json")).json);
  const [revoked, live] = made;
  await admin.run("key", "revoke", revoked?.id ?? "");
  const { status, stderr } = await admin.run("restore", file);
  expect(status).toBe(0);
  expect(stderr).toMatch(/revoked keys \(1\), subscriptions \(2\)[^\n]*\n/);
  const accounts = JSON.parse((await admin.run("account", "list", "--json")).stdout);
  expect(accounts).toMatchObject([{ subscription: "inactive" }, { subscription: "active" }]);
  const states = [];
  for (const key of [revoked?.key, live?.key])
    states.push((await admin.give(key ?? "", "key", "check", "--json")).json["state"]);
  expect(states).toEqual(["revoked", "unknown"]);
});

test("an import that was undone since the backup stays undone", async () => {
  const { admin, file } = await aBackup();
  changeImports(
    file,
    "INSERT INTO imports VALUES (2, 1, 77, 78, 'a.csv', 'dana', NULL, 20, 20, 0, 0, 0, 0, 0, 0, 1, 2, NULL)",
  );
  changeImports(file, "UPDATE stored_leads SET import = 2 WHERE uuid IN (SELECT uuid FROM stored_leads LIMIT 7)");
  fitManifest(file);
  changeImports(
    admin.file,
    "INSERT INTO imports VALUES (2, 1, 77, 78, 'a.csv', 'dana', NULL, 20, 20, 0, 0, 0, 0, 0, 0, 1, 2, 99)",
  );
  const { status, stderr, json } = await admin.run("restore", file, "--json");
  expect({ status, leads: json["leads"] }).toEqual({ status: 0, leads: 13 });
  expect(stderr).toContain("undone imports");
});

function changeImports(file: string, statement: string): void {
  using database = new Database(file);
  database.run(statement);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

describe("is refused in one line, and the data stays as it was:", () => {
  const spoil: [string, (file: string) => void][] = [
    ["a file that is not there", (file) => rmSync(file)],
    ["one without its manifest", (file) => rmSync(`${file}.manifest.json`)],
    ["one with a manifest that is none", (file) => writeFileSync(`${file}.manifest.json`, '{"sha256":1}')],
    ["a file that was cut off", (file) => truncateSync(file, 20_000)],
    ["a file with a flipped bit", (file) => flip(file, 50_000)],
    [
      "a damaged file whose digest fits",
      (file) => {
        writeFileSync(
          file,
          Buffer.concat([
            readFileSync(file).subarray(0, 16_384),
            Buffer.alloc(16_384, 7),
            readFileSync(file).subarray(32_768),
          ]),
        );
        fitManifest(file);
      },
    ],
    [
      "a text",
      (file) => {
        writeFileSync(file, "no database");
        fitManifest(file);
      },
    ],
    [
      "the database of another program",
      (file) => {
        rmSync(file);
        using other = new Database(file);
        other.run("CREATE TABLE bookmarks (url TEXT)");
        other.close();
        fitManifest(file);
      },
    ],
    [
      "a file of a newer version",
      (file) => {
        using newer = new Database(file);
        newer.run("UPDATE __drizzle_migrations SET created_at = created_at + 1");
        newer.close();
        fitManifest(file);
      },
    ],
    [
      "one with fewer leads than its manifest says",
      (file) => {
        const { counts } = JSON.parse(readFileSync(`${file}.manifest.json`, "utf8"));
        fitManifest(file, { counts: { ...counts, leads: 21 } });
      },
    ],
  ];
  test.each(spoil)("%s", async (_, spoilFile) => {
    const { admin, file } = await aBackup();
    const before = await admin.exported();
    spoilFile(file);
    const { status, stdout, stderr } = await admin.run("restore", file);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^[^\n]{20,}\n$/);
    expect(stderr).not.toMatch(/Leadfile failed|\bat .*:\d+/);
    expect(await admin.exported()).toBe(before);
    expect(readdirSync(admin.folder).filter((name) => /draft|replaced/.test(name))).toEqual([]);
  });

  test("the database itself", async () => {
    const { admin, file } = await aBackup();
    cpSync(`${file}.manifest.json`, `${admin.file}.manifest.json`);
    expect((await admin.run("restore", admin.file)).stderr).toContain("the database itself");
  });
});

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

describe("while another process has the file open", () => {
  test("a server: the restore is refused, and the server goes on", async () => {
    const { admin, file } = await aBackup();
    const server = start({ DATABASE_PATH: admin.file }, admin.folder);
    const { key } = (await admin.run("key", "create", "acme", "--json")).json;
    const api = client(await server.listening(), { Authorization: `Bearer ${key}` });
    const { status, stderr } = await admin.run("restore", file);
    expect(status).toBe(1);
    expect(stderr).toMatch(/open in a server[^\n]+\n$/);
    expect((await api.get("/leads")).body.data).toHaveLength(20);
    await server.end("SIGTERM");
    expect((await admin.run("restore", file)).status).toBe(0);
  });

  test("any other program: the restore is refused", async () => {
    const { admin, file } = await aBackup();
    const code = `import { Database } from "bun:sqlite"; const d = new Database(${JSON.stringify(admin.file)});
      d.query("SELECT count(*) FROM stored_leads").get(); console.log("open"); await Bun.sleep(60000); d.close();`;
    const other = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
    try {
      for await (const _ of other.stdout) break;
      const { status, stderr } = await admin.run("restore", file);
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("another program") });
    } finally {
      other.kill("SIGKILL");
      await other.exited;
    }
    expect((await admin.run("restore", file)).status).toBe(0);
  });
});

test("a database that is damaged beyond reading is replaced, and kept", async () => {
  const { admin, file } = await aBackup();
  for (const suffix of ["-wal", "-shm"]) rmSync(admin.file + suffix, { force: true });
  writeFileSync(admin.file, "this was a database once");
  expect(await admin.run("restore", file, "--json")).toMatchObject({ status: 0, json: { leads: 20 } });
  expect(readFileSync(join(admin.folder, kept(admin)[0] ?? ""), "utf8")).toBe("this was a database once");
});

test("a second server on the same file is refused, and ends with 1 and one line", async () => {
  const admin = await anAdminAlone();
  const first = start({ DATABASE_PATH: admin.file }, admin.folder);
  await first.listening();
  const second = start({ DATABASE_PATH: admin.file }, admin.folder);
  expect(await second.exited).toBe(1);
  expect(second.errors()).toMatch(/^[^\n]+is served by another process[^\n]+\n$/);
  expect(await first.end("SIGKILL")).not.toBe(0);
  // The lock goes with its process, however that ended.
  await start({ DATABASE_PATH: admin.file }, admin.folder).listening();
});
