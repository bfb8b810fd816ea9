/** A disk that takes its time holds up neither requests nor other writers; one that fails is heard of. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { missingRecorder } from "../../lab/faults/attacks/storage/strokes.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { eventually } from "../support/eventually.ts";
import { least } from "../support/least.ts";
import { unless } from "../support/needing.ts";
import { start } from "../support/process.ts";

const slow = unless(missingRecorder());

/** How long the disk takes to say that something is on it: much longer than what must not wait for it. */
const slowMs = 1_000;

/** The tracer stands aside, so that a signal reaches the program. */
const onDisk = (fate: string, program: string, ...args: string[]) => [
  ...["strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", `inject=${fate}`],
  ...[process.execPath, join(import.meta.dir, "../../src", program), ...args],
];
const onSlowDisk = onDisk.bind(null, `fsync,fdatasync:delay_enter=${slowMs * 1000}`);

const aHundredRows = (admin: Admin) =>
  admin.put("leads.csv", `date,pixel_id,email\n${"2026-01-31,px,a@example.com\n".repeat(100)}`);

slow("requests do not wait for counts of usage to reach the disk", async () => {
  const admin = anAdmin();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const server = start({ DATABASE_PATH: admin.file, LOG_LEVEL: "silent" }, admin.folder, onSlowDisk("main.ts"));
  const url = await server.listening();
  let asked = 0;
  async function longestOf(times: number): Promise<number> {
    let longestMs = 0;
    for (let time = 0; time < times; time++, asked++) {
      const startedMs = performance.now();
      const { status } = await fetch(`${url}/api/v1/usage`, { headers: { Authorization: `Bearer ${key}` } });
      expect(status).toBe(200);
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      await Bun.sleep(100);
    }
    return longestMs;
  }

  // The first count begins the log anew, and that is waited for.
  await longestOf(12);
  expect(await least(slowMs / 2, () => longestOf(25))).toBeLessThan(slowMs / 2);
  expect(await server.end("SIGTERM")).toBe(0);
  using file = new Database(admin.file);
  expect(file.query("SELECT sum(requests) FROM usage").values()).toEqual([[asked]]);
});

slow("an import does not keep the file locked while it waits for the disk", async () => {
  expect(await least(slowMs / 2, longestLock)).toBeLessThan(slowMs / 2);
});

/** How long an import kept a file locked without a pause. */
async function longestLock(): Promise<number> {
  const admin = anAdmin();
  const leads = aHundredRows(admin);
  // Writing begins the log, and a connection that stays open keeps it.
  using other = new Database(admin.file);
  other.run("UPDATE accounts SET created_at = 1");
  other.run("PRAGMA busy_timeout = 0");
  const stored = other.query("SELECT 1 FROM stored_leads LIMIT 1");
  const importing = start(
    { DATABASE_PATH: admin.file },
    admin.folder,
    onSlowDisk("admin.ts", "lead", "import", "acme", leads, "--create-pixels", "--json"),
  );
  let freeMs = performance.now();
  let longestMs = 0;
  while (stored.get() === null) {
    await Bun.sleep(5);
    try {
      other.run("BEGIN IMMEDIATE");
      other.run("COMMIT");
      freeMs = performance.now();
    } catch {
      longestMs = Math.max(longestMs, performance.now() - freeMs);
    }
  }
  expect([await importing.exited, JSON.parse(importing.output()).read]).toEqual([0, 100]);
  return longestMs;
}

slow("an import whose log cannot be put on the disk says so, and completes when it is run again", async () => {
  const admin = anAdmin();
  const leads = aHundredRows(admin);
  const args = ["lead", "import", "acme", leads, "--create-pixels", "--json"];
  const failing = start(
    { DATABASE_PATH: admin.file },
    admin.folder,
    onDisk("fdatasync:error=EIO", "admin.ts", ...args),
  );
  expect([await failing.exited, failing.output()]).toEqual([1, ""]);
  expect(failing.errors()).toMatch(/\nThe import was interrupted \(EIO[^\n]+\)\. [^\n]+import the file again[^\n]+\n$/);
  const again = await admin.run(...args);
  expect(again.json).toMatchObject({ read: 100, rejected: 0 });
});

slow(
  "a server whose counts could not be put on the disk says so, and copies its log into the file instead",
  async () => {
    const admin = anAdmin();
    const { key } = (await admin.run("key", "create", "acme", "--json")).json;
    const failing = onDisk("fdatasync:error=EIO:when=1", "main.ts");
    const server = start({ DATABASE_PATH: admin.file }, admin.folder, failing);
    const headers = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${await server.listening()}/api/v1/usage`, { headers })).status).toBe(200);
    await server.said(/EIO[^\n]+not safe from a power cut; it is tried again/);
    const log = () => statSync(`${admin.file}-wal`).size;
    await eventually(async () => expect(log()).toBe(0));
    using file = new Database(admin.file);
    expect(file.query("SELECT sum(requests) FROM usage").values()).toEqual([[1]]);
    expect(await server.end("SIGTERM")).toBe(0);
  },
);
