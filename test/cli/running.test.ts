/** Commands while a server runs on the same file: they take effect from the next request. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { getPriority } from "node:os";
import type { Lead } from "../../src/contract/lead.ts";
import { anAdmin } from "../support/admin.ts";
import { until } from "../support/eventually.ts";
import { client } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";

test("a server responds during two imports, and then serves each lead once, exactly as it is exported", async () => {
  const admin = anAdmin();
  const settings = { DATABASE_PATH: admin.file, LOG_LEVEL: "silent", RATE_LIMIT_PER_MIN: "1000000000" };
  const url = await start(settings, admin.folder).listening();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const { get } = client(url, { Authorization: `Bearer ${key}` });
  const rows = (name: string) =>
    Array.from({ length: 1500 }, (_, n) => `2026-01-31,px_${name},${name}${n}@example.com\n`).join("");
  let isDone = false;
  const importing = Promise.all(["a", "b"].map((name) => admin.import(`date,pixel_id,email\n${rows(name)}`)));
  void importing.finally(() => (isDone = true));
  const statuses = new Set<number>();
  while (!isDone) statuses.add((await get("/leads?limit=100")).status);
  expect([...statuses]).toEqual([200]);
  expect((await importing).map(({ status, json }) => status || json.imported)).toEqual([1500, 1500]);

  const seen: Lead[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await get(`/leads?limit=100${cursor === "" ? "" : `&before=${cursor}`}`);
    seen.push(...body.data);
    cursor = body.next_cursor;
  }
  expect(seen.toReversed()).toEqual(await admin.leads());
  expect(new Set(seen.map(({ identified_at }) => identified_at)).size).toBe(3000);

  await admin.run("pixel", "set-status", "acme", "px_a", "paused");
  const pixels: readonly { id: string }[] = (await get("/pixels")).body.data;
  expect<unknown>(pixels.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
    { id: "px_a", status: "paused" },
    { id: "px_b", status: "active" },
  ]);
});

const locks = "/proc/locks";

needing(locks)(
  "a server keeps its lock on the file while commands write and end, and refuses a key that one has revoked",
  async () => {
    // A connection of this process would have its own locks.
    const admin = anAdmin([]);
    await admin.run("account", "create", "acme");
    const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
    const server = start({ DATABASE_PATH: admin.file }, admin.folder);
    const { get } = client(await server.listening(), { Authorization: `Bearer ${key}` });
    // Other programs would remove the log of a server without a lock.
    const countLocks = () => {
      const fields = readFileSync(locks, "utf8")
        .split("\n")
        .map((line) => line.split(/\s+/));
      const { ino } = statSync(admin.file);
      return fields.filter((one) => Number(one[4]) === server.pid && one[5]?.endsWith(`:${ino}`)).length;
    };
    expect((await get("/leads")).status).toBe(200);
    const before = countLocks();
    expect(before).toBeGreaterThan(0);
    for (const name of ["one", "two", "three"]) {
      await admin.run("account", "create", name);
      expect([(await get("/leads")).status, countLocks()]).toEqual([200, before]);
    }
    expect(existsSync(`${admin.file}-wal`)).toBe(true);
    await admin.run("key", "revoke", id);
    expect((await get("/leads")).status).toBe(401);
    expect(await server.end("SIGTERM")).toBe(0);
  },
);

test("an import runs at a low priority", async () => {
  const admin = anAdmin();
  const path = admin.put("export.csv", "date,email\n2026-01-31,dana@example.com\n");
  // The import waits for another writer as long as this looks.
  using other = new Database(admin.file);
  other.run("BEGIN IMMEDIATE");
  const { child, exited } = admin.start("lead", "import", "acme", path, "--pixel", "px", "--create-pixels");
  await until(() => priorityOf(child.pid) >= 10 || child.exitCode !== null);
  other.run("COMMIT");
  expect(await exited).toBe(0);
});

/** Returns the nice value of a process. */
function priorityOf(pid: number): number {
  try {
    return getPriority(pid);
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}
