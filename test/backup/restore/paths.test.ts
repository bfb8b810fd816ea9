/** bun admin restore: whose file it is, where it is, and who has it open. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { restoreBackup } from "../../../src/backup/restore.ts";
import { serverLockOf } from "../../../src/db/database-files.ts";
import { anAdmin } from "../../support/admin.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aBackup } from "./a-backup.ts";

test("a database behind a link is served, refused to a second server and a restore, and restored in its own folder", async () => {
  const { admin, file } = await aBackup();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const link = join(aFolder(), "link.db");
  symlinkSync(admin.file, link);
  const server = start({ DATABASE_PATH: link }, admin.folder);
  const api = client(await server.listening(), { Authorization: `Bearer ${key}` });
  const second = start({ DATABASE_PATH: admin.file }, admin.folder);
  expect([await second.exited, second.errors()]).toEqual([
    1,
    expect.stringMatching(/^Another process is serving or restoring [^\n]+\n$/),
  ]);
  const refused = await admin.run("restore", file);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/open in a server[^\n]+\n$/)]);
  expect((await api.get("/leads")).body.data).toHaveLength(20);
  // The lock goes with its process, however that ended.
  await server.end("SIGKILL");
  expect((await anAdmin([], { DATABASE_PATH: link }).run("restore", file)).status).toBe(0);
  expect(readlinkSync(link)).toBe(admin.file);
  const next = start({ DATABASE_PATH: admin.file }, admin.folder);
  await next.listening();
  expect(await next.end("SIGTERM")).toBe(0);
});

test("a restore is rejected while any other program has the file open", async () => {
  const { admin, file } = await aBackup();
  const code = `import { Database } from "bun:sqlite"; const d = new Database(${JSON.stringify(admin.file)});
    d.query("SELECT count(*) FROM stored_leads").get(); console.log("open"); await Bun.sleep(60000); d.close();`;
  await start({}, admin.folder, [process.execPath, "-e", code]).said(/open/);
  const { status, stderr } = await admin.run("restore", file);
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("another program") });
});

/** There are no newer backups. */
const fetch = async (address: string) => address;

const aRestore = (path: string, file: string) => {
  const request = { newer: [], unread: [], receipts: null, nowMs: Date.now(), dryRun: false };
  return { path, file, folder: aFolder(), ...request };
};

test("a restore never replaces a database created while it runs", async () => {
  const { file } = await aBackup();
  const path = join(aFolder(), "leadfile.db");
  const makeAnother = async () => {
    using another = new Database(path);
    another.run("CREATE TABLE another (number INTEGER)");
  };
  const work = aRestore(path, file);
  await expect(restoreBackup(work, { fetch, confirm: makeAnother })).rejects.toThrow(
    "is open in a server or another program",
  );
  using another = new Database(path);
  expect(another.query("SELECT name FROM sqlite_schema").values()).toEqual([["another"]]);
});

needing("/proc")("a command that begins while a restore runs opens the restored file alone", async () => {
  const { admin, file } = await aBackup();
  await admin.run("account", "create", "later");
  const link = join(admin.folder, "link.db");
  symlinkSync(admin.file, link);
  const isOpen = (pid: number, name: string) =>
    readdirSync(`/proc/${pid}/fd`).some((each) => linkAt(`/proc/${pid}/fd/${each}`) === name);
  const processes: ReturnType<typeof admin.start>[] = [];
  const confirm = async () => {
    for (const path of [admin.file, link])
      processes.push(anAdmin([], { DATABASE_PATH: path }).start("account", "list"));
    for (const { pid } of processes) await until(() => isOpen(pid, serverLockOf(admin.file)));
    expect(processes.map(({ pid }) => isOpen(pid, admin.file))).toEqual([false, false]);
  };
  await restoreBackup(aRestore(admin.file, file), { fetch, confirm });
  for (const process of processes) {
    expect(await process.exited).toBe(0);
    expect(process.output()).not.toContain("later");
  }
});

/** Returns the target of a descriptor; empty if it was just closed. */
function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

test("follows a link whose target does not exist yet, and keeps the link", async () => {
  const { file } = await aBackup();
  const folder = aFolder();
  const link = join(folder, "link.db");
  symlinkSync("disk/leadfile.db", link);
  expect((await anAdmin([], { DATABASE_PATH: link }).run("restore", file)).status).toBe(0);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(statSync(join(folder, "disk/leadfile.db")).isFile()).toBe(true);
});

const nobody = 65_534;

needing("root")("files restored by root belong to the owner of the database", async () => {
  const { admin, file } = await aBackup();
  for (const path of [admin.folder, admin.file]) chownSync(path, nobody, nobody);
  expect((await admin.run("restore", file)).status).toBe(0);
  const files = readdirSync(admin.folder).filter((entry) => entry.startsWith("leadfile.db"));
  expect(files).toContain("leadfile.db.serving");
  for (const entry of files) expect(statSync(join(admin.folder, entry)).uid).toBe(nobody);
});

needing("root", "setpriv")(
  "who may not give files away restores into somebody else's folder all the same",
  async () => {
    const { file } = await aBackup();
    const folder = join(aFolder(), "theirs");
    mkdirSync(folder);
    chownSync(folder, nobody, nobody);
    const theirAdmin = anAdmin([], { DATABASE_PATH: join(folder, "leadfile.db") });
    const unprivileged = ["setpriv", "--bounding-set=-chown", "--inh-caps=-chown"];
    const { exited, errors } = theirAdmin.startUnder(unprivileged, ["restore", file]);
    expect(await exited).toBe(0);
    expect(errors()).toMatch(/^There is no database at [^\n]+\nNo newer data was found [^\n]+\n$/);
  },
);

needing("root")("never follows a link at the path of the lock", async () => {
  const { admin, file } = await aBackup();
  const theirs = join(aFolder(), "theirs");
  writeFileSync(theirs, "");
  rmSync(`${admin.file}.serving`, { force: true });
  symlinkSync(theirs, `${admin.file}.serving`);
  chownSync(admin.file, nobody, nobody);
  await admin.run("restore", file);
  expect(statSync(theirs).uid).toBe(0);
});
