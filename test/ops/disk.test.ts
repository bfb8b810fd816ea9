/** A slow disk delays neither requests nor other writers, a failing one is reported, and files are synced in a safe order. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { missingRecorder, wholeCalls } from "../../lab/faults/attacks/storage/operations.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { copyLead } from "../support/database.ts";
import { eventually, least } from "../support/eventually.ts";
import { client } from "../support/harness.ts";
import { unless } from "../support/needing.ts";
import { serverCommand, start } from "../support/process.ts";

const traced = unless(missingRecorder());

/** The duration of a sync: much longer than what must not wait for it. */
const slowMs = 1_000;

const injecting = (fate: string) => ["-e", `trace=${fate.split(":")[0]}`, "-e", `inject=${fate}`];

/**
 * What a program is started under so that its system calls are slow or fail, on some files alone if they are given. The tracer
 * is a child of it, so that signals reach the program.
 */
const onDisk = (fate: string, ...files: string[]) => [
  ...["strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null"],
  ...[...files.flatMap((file) => ["-P", file]), ...injecting(fate)],
];
const onSlowDisk = onDisk(`fsync,fdatasync:delay_enter=${slowMs * 1000}`);

const aHundredRows = (admin: Admin) =>
  admin.put("leads.csv", `date,pixel_id,email\n${"2026-01-31,px,a@example.com\n".repeat(100)}`);

traced("requests do not wait until usage is on the disk", async () => {
  const admin = anAdmin();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const settings = { DATABASE_PATH: admin.file, LOG_LEVEL: "silent" };
  const server = start(settings, admin.folder, [...onSlowDisk, ...serverCommand]);
  const url = await server.listening();
  let asked = 0;
  async function maxOf(times: number): Promise<number> {
    let maxMs = 0;
    for (let time = 0; time < times; time++, asked++) {
      const startedMs = performance.now();
      const { status } = await fetch(`${url}/api/v1/usage`, { headers: { Authorization: `Bearer ${key}` } });
      expect(status).toBe(200);
      maxMs = Math.max(maxMs, performance.now() - startedMs);
      await Bun.sleep(100);
    }
    return maxMs;
  }

  // The first count starts a new log, and requests wait for that.
  await maxOf(12);
  expect(await least(slowMs / 2, () => maxOf(25))).toBeLessThan(slowMs / 2);
  expect(await server.end("SIGTERM")).toBe(0);
  using file = new Database(admin.file);
  expect(file.query("SELECT sum(requests) FROM usage").values()).toEqual([[asked]]);
});

traced("an import does not keep the file locked while it waits for the disk", async () => {
  expect(await least(slowMs / 2, maxLockMs)).toBeLessThan(slowMs / 2);
});

/** Returns how long an import kept a file locked without a pause. */
async function maxLockMs(): Promise<number> {
  const admin = anAdmin();
  const leads = aHundredRows(admin);
  // Writing begins the log, and a connection that stays open keeps it.
  using other = new Database(admin.file);
  other.run("UPDATE accounts SET created_at = 1");
  other.run("PRAGMA busy_timeout = 0");
  const stored = other.query("SELECT 1 FROM stored_leads LIMIT 1");
  const args = ["lead", "import", "acme", leads, "--create-pixels", "--json"];
  const importing = admin.startUnder(onSlowDisk, args);
  let freeMs = performance.now();
  let maxMs = 0;
  while (stored.get() === null) {
    await Bun.sleep(5);
    try {
      other.run("BEGIN IMMEDIATE");
      other.run("COMMIT");
      freeMs = performance.now();
    } catch {
      maxMs = Math.max(maxMs, performance.now() - freeMs);
    }
  }
  expect([await importing.exited, JSON.parse(importing.output()).read]).toEqual([0, 100]);
  return maxMs;
}

traced("an import whose log cannot be synced says so, and completes when it is run again", async () => {
  const admin = anAdmin();
  const leads = aHundredRows(admin);
  const args = ["lead", "import", "acme", leads, "--create-pixels", "--json"];
  const failing = admin.startUnder(onDisk("fdatasync:error=EIO"), args);
  expect([await failing.exited, failing.output()]).toEqual([1, ""]);
  expect(failing.errors()).toMatch(/\nThe import was interrupted \(EIO[^\n]+\)\. [^\n]+import the file again[^\n]+\n$/);
  const again = await admin.run(...args);
  expect(again.json).toMatchObject({ read: 100, rejected: 0 });
});

traced("a server whose usage could not be synced says so, and copies its log into the file", async () => {
  const admin = anAdmin();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const failing = [...onDisk("fdatasync:error=EIO:when=1"), ...serverCommand];
  const server = start({ DATABASE_PATH: admin.file }, admin.folder, failing);
  const headers = { Authorization: `Bearer ${key}` };
  expect((await fetch(`${await server.listening()}/api/v1/usage`, { headers })).status).toBe(200);
  await server.said(/EIO[^\n]+not safe from a power cut; it is tried again/);
  const log = () => statSync(`${admin.file}-wal`).size;
  await eventually(async () => expect(log()).toBe(0));
  using file = new Database(admin.file);
  expect(file.query("SELECT sum(requests) FROM usage").values()).toEqual([[1]]);
  expect(await server.end("SIGTERM")).toBe(0);
});

traced.each([
  ["finds the disk full", "pwrite64:error=ENOSPC", /full/],
  ["finds the disk full after some writes", "pwrite64:error=ENOSPC:when=4+", /full/],
  ["cannot sync", "fsync,fdatasync:error=EIO", /EIO|disk I\/O error/],
  ["finds the file read-only", "openat:error=EROFS", /read.?only|cannot be/i],
] as const)("a command that %s says so and prints no result, and succeeds afterwards", async (_, fate, says) => {
  for (const args of [
    ["key", "create", "acme", "--json"],
    ["lead", "import", "acme", "leads.csv", "--create-pixels", "--json"],
  ]) {
    const admin = anAdmin();
    aHundredRows(admin);
    const failing = admin.startUnder(onDisk(fate, admin.file, `${admin.file}-wal`), args);
    expect([await failing.exited, failing.output()]).toEqual([1, ""]);
    expect(failing.errors()).toMatch(says);
    expect(failing.errors()).not.toMatch(/\n\s+at /);
    expect((await admin.run(...args)).status).toBe(0);
  }
});

traced("while some reads fail, requests get their leads or query_failed, and all are served afterwards", async () => {
  const admin = anAdmin();
  await admin.import("date,pixel_id,email\n2026-01-31,px,d0@example.com\n");
  // More than the 32 MB that the server keeps in memory, so that it reads from the disk.
  copyLead(admin, 8_000, `https://example.com/${"x".repeat(5_000)}`);
  const leads = await admin.leads();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const server = start({ DATABASE_PATH: admin.file, LOG_LEVEL: "silent", RATE_LIMIT_PER_MIN: "100000" }, admin.folder);
  const api = client(await server.listening(), { Authorization: `Bearer ${key}` });
  /** Asks for leads in 16 places at once, each time in others. Returns the number of failed requests. */
  async function failedOf(requests: number): Promise<number> {
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async (_, place) => {
        let failed = 0;
        for (let request = 0; request < requests; request++) {
          const at = (place * 500 + request * 37) % (leads.length - 1);
          const { status, text, body } = await api.get(`/leads?limit=1&before=${leads[at + 1]?.identified_at}`);
          if (status === 200) expect(text).toContain(JSON.stringify(leads[at]));
          else expect([status, body.error.code]).toEqual([500, "query_failed"]);
          if (status !== 200) failed++;
        }
        return failed;
      }),
    );
    return statuses.reduce((sum, failed) => sum + failed, 0);
  }
  expect(await failedOf(5)).toBe(0);
  const fate = injecting("pread64:error=EIO:when=7+7");
  const strace = Bun.spawn(["strace", "-f", "-o", "/dev/null", "-p", String(server.pid), ...fate], { stderr: "pipe" });
  await strace.stderr.getReader().read();
  expect(await failedOf(30)).toBeGreaterThan(0);
  strace.kill("SIGINT");
  await strace.exited;
  expect(await failedOf(5)).toBe(0);
  expect(await server.end("SIGTERM")).toBe(0);
});

traced("an import does not copy pages before it changes them", async () => {
  const admin = anAdmin();
  // IDs in random order change existing pages: the second half meets those of the first.
  const row = (n: number) => `${crypto.randomUUID()},${1_770_000_000 + n},${n}@example.com,px\n`;
  const rows = Array.from({ length: 8_000 }, (_, n) => row(n)).join("");
  const leads = admin.put("leads.csv", `id,timestamp,email,pixel_id\n${rows}`);
  const trace = join(admin.folder, "trace");
  const strace = ["strace", "-f", "--seccomp-bpf", "-o", trace, "-e", "trace=pwrite64"];
  expect(await admin.startUnder(strace, ["lead", "import", "acme", leads, "--create-pixels"]).exited).toBe(0);
  const writes = readFileSync(trace, "utf8").split("\n");
  expect(writes.length).toBeGreaterThan(1000);
  // A copy begins with the number of its page, in a write of four bytes.
  expect(writes.filter((line) => / pwrite64\(\d+, .*, 4, \d+\)/.test(line))).toEqual([]);
});

/**
 * Records the syncs, renames, closes, and output of a command in their order. The folder of drafts is `draft`, that of
 * the database `.`. Without `links`, the file system has no hard links.
 */
async function record(admin: Admin, args: readonly string[], links = true): Promise<string[]> {
  const { folder } = admin;
  const trace = join(folder, "trace");
  const calls = "trace=fsync,fdatasync,link,linkat,rename,renameat,renameat2,write,close";
  const rejected = links ? [] : ["-e", "inject=link,linkat:error=EPERM"];
  const strace = ["strace", "-f", "--seccomp-bpf", "-y", "-o", trace, "-e", calls, ...rejected];
  const { exited, output } = admin.startUnder(strace, args);
  expect([await exited, output()]).toEqual([0, expect.stringMatching(/./)]);
  const short = (path: string) =>
    path === folder ? "." : path.replace(`${folder}/`, "").replace(/\.leadfile-draft-[^/]+/, "draft");
  return [...wholeCalls(readFileSync(trace, "utf8"))].flatMap((line) => {
    const synced = /\bf(?:data)?sync\(\d+<([^>]+)>\) += 0$/.exec(line);
    if (synced !== null) return [`sync ${short(synced[1] ?? "")}`];
    const named = /\b(?:link|rename)\w*\(.*?"([^"]+)".*"([^"]+)".*\) += 0$/.exec(line);
    if (named !== null) return [`${short(named[1] ?? "")} is ${short(named[2] ?? "")}`];
    const closed = /\bclose\(\d+<([^>]+leadfile\.db)>\) += 0$/.exec(line);
    if (closed !== null) return [`close ${short(closed[1] ?? "")}`];
    return /\bwrite\(1</.test(line) ? ["said"] : [];
  });
}

/** Returns the steps in the order in which each was taken for the last time. */
const lastOf = (operations: readonly string[], steps: readonly string[]) =>
  steps
    .filter((step) => operations.includes(step))
    .toSorted((a, b) => operations.lastIndexOf(a) - operations.lastIndexOf(b));

async function withLead(): Promise<{ admin: Admin; copy: string }> {
  const admin = anAdmin();
  await admin.import("date,pixel_id,email\n2026-01-31,px,a@example.com\n");
  return { admin, copy: join(admin.folder, "copy.db") };
}

traced("a backup: both files, then the name of the manifest, then its own, then the folder", async () => {
  const { admin, copy } = await withLead();
  const operations = await record(admin, ["backup", copy]);
  const steps = [
    "sync draft/copy.db",
    "sync draft/copy.db.manifest.json",
    "draft/copy.db.manifest.json is copy.db.manifest.json",
    "draft/copy.db is copy.db",
    "sync .",
    "said",
  ];
  // The folder is synced again for the log, in which the backup is recorded.
  const named = operations.slice(operations.indexOf("draft/copy.db is copy.db"));
  expect(named.indexOf("sync .")).toBeLessThan(named.findIndex((operation) => operation.includes("sync leadfile.db")));
  expect(lastOf(operations, steps)).toEqual(steps);
});

traced.each([
  ["", true],
  [" without hard links", false],
])("a restore%s: the file, then its name, which something always has, then the folder", async (_, links) => {
  const { admin, copy } = await withLead();
  await admin.run("backup", copy);
  const steps = ["sync draft/restored.db", "draft/restored.db is leadfile.db", "sync .", "said"];
  const operations = await record(admin, ["restore", copy], links);
  expect(lastOf(operations, steps)).toEqual(steps);
  if (links) return;
  const named = operations.indexOf("draft/restored.db is leadfile.db");
  expect(operations[named - 1]).toMatch(/^leadfile\.db is leadfile\.db\.replaced-/);
  // A program that closes a file drops all its locks on it.
  expect(operations.slice(operations.lastIndexOf("sync draft/restored.db"), named)).not.toContain("close leadfile.db");
});
