/** Times in which it was not recorded who received leads are named instead of claiming that nobody received them. */
import { expect, test } from "bun:test";
import { copyFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../src/contract/calendar.ts";
import { openServedStore } from "../../../src/server/store.ts";
import { type Admin, anAdmin } from "../../support/admin.ts";

const find = ["lead", "find", "acme", "--email", "dana@example.com", "--json"] as const;

async function anAccount() {
  const admin = anAdmin();
  await admin.import("pixel_id,email\npx,dana@example.com\n");
  await admin.run("key", "create", "acme");
  return admin;
}

/** Serves for a moment. */
async function serve(path: string, keepsLedger: boolean): Promise<void> {
  const served = openServedStore(path, keepsLedger);
  await Bun.sleep(20);
  await served.close();
}

test("a server with DISCLOSURES=off leaves a gap, which find, erase, receipts, and key list name", async () => {
  const admin = await anAccount();
  await serve(admin.file, false);
  await serve(admin.file, true);
  const gap = { from: expect.stringMatching(/Z$/), to: expect.stringMatching(/Z$/), reason: "off" };
  const found = await admin.run(...find);
  expect(found.json).toMatchObject({ received: [], gaps: [gap] });
  expect(found.stderr).toContain("the record of who received leads is not exact (DISCLOSURES was off)");
  expect(found.stderr).not.toContain("no key is known");
  const keys = await admin.run("key", "list", "acme", "--json");
  expect(JSON.parse(keys.stdout)).toMatchObject([{ gaps: [gap] }]);
  const erased = await admin.run("lead", "erase", "acme", "--email", "dana@example.com", "--json");
  expect(erased.json).toMatchObject({ erased: 1, receipt: { gaps: [gap] } });
  expect(erased.stderr).toContain("DISCLOSURES was off");
});

test("a gap does not apply to later leads and keys", async () => {
  const admin = await anAccount();
  await serve(admin.file, false);
  await admin.import("pixel_id,email\npx,robin@example.com\n");
  await admin.run("key", "create", "acme");
  const { json } = await admin.run("lead", "find", "acme", "--email", "robin@example.com", "--json");
  expect(json).toMatchObject({ gaps: [] });
  const keys = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
  expect(keys.map(({ gaps }: { gaps: unknown[] }) => gaps.length)).toEqual([1, 0]);
});

/** Goes on with the file of a server as it is on the disk, as after kill -9. */
async function killed(admin: Admin, keepsLedger = true): Promise<Admin> {
  const store = openServedStore(admin.file, keepsLedger);
  const other = anAdmin([]);
  for (const end of ["", "-wal"]) copyFileSync(admin.file + end, other.file + end);
  await store.close();
  return other;
}

test("a server that is killed leaves a gap from its last write to the next start, and one that stops in order none", async () => {
  const admin = await anAccount();
  await serve(admin.file, true);
  const running = openServedStore(admin.file);
  expect((await admin.run(...find)).json).toMatchObject({ gaps: [] });
  await running.close();
  const other = await killed(admin);
  expect((await other.run(...find)).json).toMatchObject({ gaps: [{ to: null, reason: "stop" }] });
  await serve(other.file, true);
  expect((await other.run(...find)).json).toMatchObject({ gaps: [{ to: expect.any(String), reason: "stop" }] });
  expect((await admin.run(...find)).json).toMatchObject({ gaps: [] });
  const off = await killed(admin, false);
  expect((await off.run(...find)).json).toMatchObject({ gaps: [{ to: null, reason: "off" }] });
  await serve(off.file, true);
  expect((await off.run(...find)).json).toMatchObject({ gaps: [{ to: expect.any(String), reason: "off" }] });
});

test("a clock behind the newest act or import is a gap from that until the clock has passed it", async () => {
  const admin = await anAccount();
  const wrongMs = Date.now() - 500 * dayMs;
  const behind = openServedStore(admin.file, true, () => wrongMs);
  const { gaps } = (await admin.run(...find)).json;
  expect(gaps).toEqual([{ from: expect.any(String), to: null, reason: "clock" }]);
  await behind.close();
  await serve(admin.file, true);
  const after = (await admin.run(...find)).json;
  // The right clock shows it, with its end.
  expect(after).toMatchObject({ gaps: [{ to: expect.any(String), reason: "clock" }] });
});

test("a clock that a time server sets back by seconds is no gap", async () => {
  const admin = await anAccount();
  const store = openServedStore(admin.file, true, () => Date.now() - 30_000);
  await store.close();
  expect((await admin.run(...find)).json).toMatchObject({ gaps: [] });
});

test("a disk that was full when the server was killed is a gap before and after the next start", async () => {
  const admin = await anAccount();
  const sinceMs = Date.now() - 60_000;
  writeFileSync(`${admin.file}.gap`, "");
  utimesSync(`${admin.file}.gap`, sinceMs / 1000, sinceMs / 1000);
  expect((await admin.run(...find)).json).toMatchObject({ gaps: [{ to: null, reason: "disk" }] });
  await serve(admin.file, true);
  const { json } = await admin.run(...find);
  expect(json).toMatchObject({ gaps: [{ from: new Date(sinceMs).toISOString(), reason: "disk" }] });
});

test.each([
  ["on an empty machine", ["late"], 1],
  ["on an empty machine, of a backup from before all keys", ["early"], 1],
  ["over a file that an earlier backup became", ["early", "late"], 2],
  ["over the file of which it is a backup", null, 0],
])(
  "a restore %s leaves a gap since the backup if nothing knows who received leads since",
  async (_, restored, gaps) => {
    const admin = anAdmin();
    const later = "pixel_id,email,identified_at\npx,robin@example.com,2026-05-01T10:00:00Z\n";
    await admin.import("pixel_id,email\npx,dana@example.com\n");
    for (const name of ["early", "late"]) {
      await admin.run("backup", admin.put(`${name}/none`, "").replace("none", "copy.db"));
      await admin.run("key", "create", "acme");
    }
    await admin.import(later);
    const machine = restored === null ? admin : anAdmin([]);
    for (const name of restored ?? ["late"])
      expect((await machine.run("restore", join(admin.folder, name, "copy.db"))).status).toBe(0);
    await machine.import(later);
    for (const email of ["dana@example.com", "robin@example.com"]) {
      const { json } = await machine.run("lead", "find", "acme", "--email", email, "--json");
      expect(json).toMatchObject({ received: [], gaps: Array(gaps).fill({ reason: "restore" }) });
    }
  },
);
