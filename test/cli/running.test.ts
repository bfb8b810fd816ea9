/** Commands while a server runs on the same file: they take effect from the next request. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { getPriority } from "node:os";
import { anAdmin } from "../support/admin.ts";
import { until } from "../support/eventually.ts";
import { client } from "../support/harness.ts";
import { start } from "../support/process.ts";

async function aServer() {
  const admin = anAdmin();
  const server = start(
    { DATABASE_PATH: admin.file, LOG_LEVEL: "silent", RATE_LIMIT_PER_MIN: "1000000000" },
    admin.folder,
  );
  const url = await server.listening();
  const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
  return { admin, server, id, api: client(url, { Authorization: `Bearer ${key}` }) };
}

test("leads and pixels are served once the command has ended, exactly as they are exported", async () => {
  const { admin, api } = await aServer();
  const rows = Array.from({ length: 60 }, (_, n) => `2026-01-31 09:15:00,px_${n % 3},d${n}@example.com\n`).join("");
  await admin.import(`time,pixel_id,email\n${rows}`);
  const { body } = await api.get("/leads?limit=100");
  expect(body.data).toEqual((await admin.leads()).toReversed());
  await admin.run("pixel", "set-status", "acme", "px_1", "paused");
  expect((await api.get("/pixels")).body.data as unknown).toEqual([
    { id: "px_0", status: "active" },
    { id: "px_1", status: "paused" },
    { id: "px_2", status: "active" },
  ]);
});

test("the server responds during an import, and paging loses and repeats no lead", async () => {
  const { admin, api } = await aServer();
  const rows = Array.from({ length: 4_000 }, (_, n) => `2026-01-31,d${n}@example.com\n`).join("");
  const importing = admin.import(`date,email\n${rows}`, "--pixel", "px");
  let done = false;
  void importing.then(() => (done = true));
  const statuses = new Set<number>();
  while (!done) statuses.add((await api.get("/leads?limit=100")).status);
  expect([...statuses]).toEqual([200]);
  expect((await importing).json).toMatchObject({ imported: 4_000 });
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await api.get(`/leads?limit=100${cursor === "" ? "" : `&before=${cursor}`}`);
    seen.push(...body.data.map(({ id }) => id));
    cursor = body.next_cursor;
  }
  expect(new Set(seen).size).toBe(4_000);
  expect(seen).toHaveLength(4_000);
});

test("an import runs at a low priority", async () => {
  const admin = anAdmin();
  const path = admin.put("export.csv", "date,email\n2026-01-31,dana@example.com\n");
  // The import waits for another writer as long as this looks.
  using other = new Database(admin.file);
  other.run("BEGIN IMMEDIATE");
  const child = admin.start("lead", "import", "acme", path, "--pixel", "px", "--create-pixels");
  await until(() => priorityOf(child.pid) >= 10 || child.exitCode !== null);
  other.run("COMMIT");
  expect(await child.exited).toBe(0);
});

/** Returns the nice value of a process. */
function priorityOf(pid: number): number {
  try {
    return getPriority(pid);
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}

test("two imports at once into one account are both complete, and each lead has its own time", async () => {
  const { admin } = await aServer();
  const rows = (name: string) =>
    `date,email\n${Array.from({ length: 1500 }, (_, n) => `2026-01-31,${name}${n}@example.com\n`).join("")}`;
  const both = await Promise.all(["a", "b"].map((name) => admin.import(rows(name), "--pixel", "px")));
  expect(both.map(({ status, json }) => status || json.imported)).toEqual([1500, 1500]);
  const leads = await admin.leads();
  expect(new Set(leads.map(({ identified_at }) => identified_at)).size).toBe(3000);
});
