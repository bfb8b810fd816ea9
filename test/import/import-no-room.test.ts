/** An import without room for what it puts aside: what is said then, and what goes on. */
import { expect, onTestFinished, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readlinkSync, statfsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../support/admin.ts";
import { betweenTransactions } from "../support/between-transactions.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";
import { aSmallDisk } from "../support/small-disk.ts";

const rows = Array.from({ length: 40_000 }, (_, n) => `2026-01-31,px,d${n}@example.com\n`);
const large = `date,pixel_id,email\n${rows.join("")}`;
const small = "date,pixel_id,email\n2026-01-31,px,dana@example.com\n";

/** Runs a command that may write no file of more than 4 MB. */
function withLittleRoom(admin: Admin, ...args: readonly string[]) {
  const program = join(import.meta.dir, "../../src/admin.ts");
  const child = Bun.spawn(["bash", "-c", 'ulimit -f 4000; exec "$@"', "-", process.execPath, program, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: admin.folder, DATABASE_PATH: admin.file },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  onTestFinished(() => child.kill("SIGKILL"));
  return child;
}

/** A folder for each account, with files that were complete long ago. */
function anInbox(admin: Admin, files: Readonly<Record<string, string>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(admin.folder, "inbox", path, ".."), { recursive: true });
    utimesSync(admin.put(join("inbox", path), content), 0, 0);
  }
  return join(admin.folder, "inbox");
}

const createsPixels = '{"create-pixels":true}';

test("a disk without room ends the import in one line, which names the folder and what to do", async () => {
  const admin = anAdmin();
  const file = admin.put("large.csv", large);
  const child = withLittleRoom(admin, "lead", "import", "acme", file, "--create-pixels");
  const last = (await child.stderr.text()).trimEnd().split("\n").at(-1);
  expect(last).toStartWith(`The folder ${admin.folder} has no room to stage the file`);
  expect(last).toMatch(/Nothing was imported\. Free /);
  expect([await child.exited, await admin.leads()]).toEqual([1, []]);
});

test("an inbox leaves the file where it is, says so once, goes on with others, and keeps no room", async () => {
  const admin = anAdmin(["acme", "other"]);
  const folder = anInbox(admin, {
    "acme/import.json": createsPixels,
    "acme/large.csv": large,
    "other/import.json": createsPixels,
  });
  const child = withLittleRoom(admin, "inbox", folder);
  let said = "";
  const decoder = new TextDecoder();
  for await (const bytes of child.stderr) {
    said += decoder.decode(bytes);
    if (said.includes("other/small.csv: done")) break;
    // By the second time that the large file is tried, nothing of the first time is left.
    if (said.includes("acme/large.csv: it is tried again")) anInbox(admin, { "other/small.csv": small });
  }
  expect(said.match(/acme\/large\.csv: it is tried again within a minute: [^\n]*has no room[^\n]*\n/g)).toHaveLength(1);
  expect(existsSync(join(folder, "acme/large.csv"))).toBe(true);
  expect(child.exitCode).toBe(null);
  expect(putAsideBy(child.pid)).toEqual([]);
  expect([await admin.leads(), (await admin.leads("other")).length]).toEqual([[], 1]);
});

/** Files that a process has open though their names are gone. */
function putAsideBy(pid: number): string[] {
  const paths = readdirSync(`/proc/${pid}/fd`).map((number) => readlinkSync(`/proc/${pid}/fd/${number}`));
  return paths.filter((path) => path.endsWith(" (deleted)"));
}

needing("mount")("an undo on a disk with little room goes on with it, and leaves some for a revocation", async () => {
  using disk = aSmallDisk(aFolder(), "size=80m");
  const path = join(disk.path, "leadfile.db");
  const admin = anAdmin([], { DATABASE_PATH: path });
  await admin.run("account", "create", "acme");
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  expect((await admin.import(`date,pixel_id,email\n${rows.slice(0, 20_000).join("")}`)).status).toBe(0);
  const { bavail, bsize } = statfsSync(disk.path);
  writeFileSync(join(disk.path, "rest"), Buffer.alloc(bavail * bsize - 12_000_000));
  const child = admin.start("import", "undo", "acme", "1");
  // Whoever asks makes it write pages again and again.
  expect(
    await betweenTransactions(
      path,
      child.exited,
      () => undefined,
      () => true,
    ),
  ).toBe(0);
  expect((await admin.run("key", "revoke", id, "--yes")).status).toBe(0);
});
