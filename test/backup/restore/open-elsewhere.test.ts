/** bun admin restore while another process has the file open, and two servers on one file. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { restoreBackup } from "../../../src/backup/restore.ts";
import { serverLockOf } from "../../../src/db/files.ts";
import { anAdmin } from "../../support/admin.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aBackup } from "./a-backup.ts";

describe("while another process has the file open", () => {
  test("a server: the restore is rejected, and the server keeps serving", async () => {
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

  test("any other program: the restore is rejected", async () => {
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

test("a second server on the same file ends with one line and status 1", async () => {
  const admin = anAdmin();
  const first = start({ DATABASE_PATH: admin.file }, admin.folder);
  await first.listening();
  const second = start({ DATABASE_PATH: admin.file }, admin.folder);
  expect(await second.exited).toBe(1);
  expect(second.errors()).toMatch(/^Another process is serving or restoring [^\n]+\n$/);
  expect(await first.end("SIGKILL")).not.toBe(0);
  // The lock goes with its process, however that ended.
  await start({ DATABASE_PATH: admin.file }, admin.folder).listening();
});

const aRestore = (path: string, named: string) => {
  const request = { identity: null, access: null, receipts: null, nowMs: Date.now(), dryRun: false };
  return { path, named, folder: aFolder(), ...request };
};

test("a restore never replaces a database created while it runs", async () => {
  const { file } = await aBackup();
  const path = join(aFolder(), "leadfile.db");
  const makeAnother = async () => {
    using another = new Database(path);
    another.run("CREATE TABLE another (number INTEGER)");
  };
  const work = aRestore(path, file);
  await expect(restoreBackup(work, makeAnother)).rejects.toThrow("is open in a server or another program");
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
  const work = aRestore(admin.file, file);
  await restoreBackup(work, async () => {
    for (const path of [admin.file, link])
      processes.push(anAdmin([], { DATABASE_PATH: path }).start("account", "list"));
    for (const { pid } of processes) await until(() => isOpen(pid, serverLockOf(admin.file)));
    expect(processes.map(({ pid }) => isOpen(pid, admin.file))).toEqual([false, false]);
  });
  for (const process of processes) {
    expect(await process.exited).toBe(0);
    expect(await process.stdout.text()).not.toContain("later");
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
