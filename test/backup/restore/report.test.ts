/** bun admin restore says what will be gone before it is, and needs --yes if that is much or the clock does not fit. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../src/contract/calendar.ts";
import { anAdmin } from "../../support/admin.ts";
import { copyLead } from "../../support/database.ts";
import { needing } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aSmallDisk } from "../../support/small-disk.ts";
import { onTerminal, plain } from "../../support/terminal.ts";
import { aBackup, at, backUp, erase, flip, header, kept, printed, rows } from "./a-backup.ts";

const nowMs = Date.parse("2026-05-20T12:00:00Z");

/** A backup after which leads were imported, a key and an account were created, and a person was erased. */
async function aBackupWithMore() {
  const { admin, file } = await aBackup();
  await admin.import(header + rows(20, 30));
  await admin.run("account", "create", "birch & co");
  await admin.give(header + rows(0, 3), "lead", "import", "birch & co", "-", "--create-pixels");
  await admin.run("key", "create", "acme");
  await erase(admin, "d7@example.com");
  return { admin, file };
}

const report = { leads: 19, erased_again: 1, retained_out: 0, lost: { leads: 13, imports: 2, keys: 1, accounts: 1 } };

test("a dry run reports what a restore would remove and lose, and changes nothing, while a server runs", async () => {
  const { admin, file } = await aBackupWithMore();
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  await server.listening();
  const before = readdirSync(admin.folder);
  const { status, json, stderr } = await admin.run("restore", file, "--dry-run", "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, ...report });
  expect(stderr).toContain(`Would replace ${admin.file}`);
  expect(stderr).toContain("Lost: 2 imports since the backup");
  expect(readdirSync(admin.folder)).toEqual(before);
  expect(await admin.leads()).toHaveLength(29);
  expect(await server.end("SIGTERM")).toBe(0);
});

test("a restore names the file that it replaces, and the commands it prints copy the lost leads over", async () => {
  const { admin, file } = await aBackupWithMore();
  const { status, json, stderr } = await admin.run("restore", file, "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, ...report });
  expect(stderr).toStartWith(`Replacing ${admin.file}`);
  const commands = [...stderr.matchAll(/^To carry over these leads: (.+)$/gm)].map(([, command = ""]) => command);
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const shell = ["sh", "-ec", command.replaceAll("bun admin", '"$@"'), "sh"];
    const { status, stderr } = await admin.startUnder(shell, []).finished();
    expect([status, status === 0 ? "" : stderr]).toEqual([0, ""]);
  }
  expect((await admin.leads()).map(({ email }) => email)).not.toContain("d7@example.com");
  expect(await admin.leads()).toHaveLength(29);
  expect(await admin.leads("birch & co")).toHaveLength(3);
});

test("leads that were imported again after an erasure and an unblock are reported as lost", async () => {
  const { admin, file } = await aBackup();
  for (const verb of ["erase", "unblock"]) await admin.run("lead", verb, "acme", "--email", "d7@example.com");
  await admin.import(header + rows(0, 20));
  const { json, stderr } = await admin.run("restore", file, "--json");
  expect(json).toMatchObject({ leads: 19, lost: { leads: 1, imports: 1 } });
  expect(stderr).toContain("To carry over these leads: ");
});

test.each([
  ["more than a day before the backup was made", 1, -1 * dayMs - 1],
  ["a day before it", 0, -1 * dayMs],
  ["400 days after it", 0, 400 * dayMs],
  ["more than 400 days after it", 1, 400 * dayMs + 1],
])(
  "without a terminal and without --yes, a restore at a clock that is %s ends with %i",
  async (_, status, offsetMs) => {
    const admin = anAdmin(["acme"], {}, nowMs);
    const file = await backUp(admin);
    const later = at(nowMs + offsetMs, admin);
    const ended = await later.run("restore", file);
    expect(ended.status).toBe(status);
    if (status === 0) return;
    expect(ended.stderr).toMatch(/\nNothing was restored: [^\n]+ then pass --yes\.\n$/);
    expect(kept(admin)).toEqual([]);
    for (const option of ["--dry-run", "--yes"])
      expect(await later.run("restore", file, option)).toMatchObject({ status: 0 });
  },
);

test.each([
  [1, 2, 1],
  [2, 2, 0],
])("without a terminal, retention that keeps %i leads and leaves out %i ends with %i", async (young, old, status) => {
  const admin = anAdmin();
  const today = new Date().toISOString().slice(0, 10);
  const days = [...Array(young).fill(today), ...Array(old).fill("2026-01-31")];
  await admin.import(`date,pixel_id,email\n${days.map((day, n) => `${day},px,p${n}@example.com\n`).join("")}`);
  const file = await backUp(admin);
  await admin.run("retain", "acme", "--days", "30", "--yes");
  const ended = await admin.run("restore", file, "--json");
  expect(ended.status).toBe(status);
  const asked = await admin.run("restore", file, "--json", "--dry-run");
  expect(asked.json).toMatchObject({ leads: young, retained_out: old });
});

test("on a narrow terminal, a restore asks before it loses leads, and prints each command to be pasted on one line", async () => {
  const { admin, file } = await aBackupWithMore();
  const before = await admin.exported();
  const refused = onTerminal(admin.file, ["restore", file], { columns: 50 });
  await refused.seen(/Replace the database\? \[y\/N\]/);
  expect(plain(refused.shown())).toContain("Lost: 10 leads of acme");
  refused.type("n\r");
  expect(await refused.ended).toBe(1);
  expect([await admin.exported(), kept(admin)]).toEqual([before, []]);
  const confirmed = onTerminal(admin.file, ["restore", file, "--yes"], { columns: 50 });
  expect(await confirmed.ended).toBe(0);
  const lines = plain(confirmed.shown()).split("\n");
  expect(lines.filter((line) => /^To carry over these leads: .* --create-pixels$/.test(line))).toHaveLength(2);
});

test("a dry run where there is no database creates nothing, not even a folder", async () => {
  const { file } = await aBackup();
  const other = anAdmin([]);
  const elsewhere = anAdmin([], { DATABASE_PATH: join(other.folder, "no/such/leadfile.db") });
  const before = readdirSync(other.folder);
  const { status, json } = await elsewhere.run("restore", file, "--dry-run", "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, leads: 20 });
  expect(readdirSync(other.folder)).toEqual(before);
  const restored = await elsewhere.run("restore", file);
  expect([restored.status, restored.stderr]).toEqual([
    0,
    expect.stringMatching(/^There is no database at \S+leadfile\.db/),
  ]);
  expect(readdirSync(other.folder)).toEqual([...before, "no"].toSorted());
});

test.each([
  ["a damaged one", false, "copy.db", 0, (file: string) => flip(file, 50_000)],
  ["those of another database", true, "copy.db", 0, () => {}],
  ["those that a clock ahead of time has dated", false, "copy.db", 0, () => {}],
  ["those that are dated last, and know less", false, "copy.db", 2 * dayMs, () => {}],
  ["that which is restored, if a clock ahead of time has dated it", false, "newest.db", 0, () => {}],
])("a restore repeats the erasures of a newer backup behind %s", async (_, isAnother, name, laterMs, spoil) => {
  const { admin } = await aBackup();
  const ahead = at(Date.now() + dayMs, isAnother ? anAdmin() : admin);
  for (const file of ["newest.db", "second.db"].map((other) => join(admin.folder, other))) {
    await ahead.run("backup", file);
    spoil(file);
  }
  await erase(admin, "d7@example.com");
  await backUp(admin, "newer.db");
  const other = at(Date.now() + laterMs, anAdmin([]));
  const { json, stderr } = await other.run("restore", join(admin.folder, name), "--json", "--yes");
  expect(json).toMatchObject({ leads: 19, erased_again: 1 });
  expect(stderr).toMatch(
    /^Erasures and revocations were taken from newer backups\. Later ones may be lost \(.+\)\. Settings changed since 2/m,
  );
});

test("a restore takes the revocations of keys and sources from a newer backup", async () => {
  const { admin } = await aBackup();
  const { id: source } = (await admin.run("source", "create", "acme", "--json")).json;
  const { id: key } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = await backUp(admin, "older.db");
  expect((await admin.run("source", "revoke", source)).status).toBe(0);
  expect((await admin.run("key", "revoke", key)).status).toBe(0);
  await backUp(admin, "newer.db");
  const other = anAdmin([]);
  expect((await other.run("restore", file, "--yes")).status).toBe(0);
  for (const noun of ["source", "key"])
    expect(await printed(other, noun, "list", "acme")).toMatchObject([{ state: "revoked" }]);
});

needing("mount")("a restore ends if the disk is too full to read a newer backup", async () => {
  const admin = anAdmin();
  await admin.import("date,email\n2026-01-31,d0@example.com\n", "--pixel", "px");
  copyLead(admin, 4_999, `https://example.com/${"x".repeat(300)}`);
  const file = await backUp(admin, "older.db");
  await backUp(admin, "newer.db");
  using disk = aSmallDisk(admin.folder, `size=${Math.round(statSync(file).size * 1.7)}`);
  const other = anAdmin([], { DATABASE_PATH: join(disk.path, "leadfile.db") });
  const { status, stderr } = await other.run("restore", file);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^The disk of [^\n]+ is full\. [^\n]+\n$/)]);
  expect(existsSync(join(disk.path, "leadfile.db"))).toBe(false);
});
