/** kill -9 in the middle of a backup or a restore: there is the state before or the state after. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../../../../test/support/admin.ts";

const rounds = 15;
const header = "date,pixel_id,email\n";
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `2026-01-31,px,d${from + n}@example.com\n`).join("");

async function aFile(count: number): Promise<Admin> {
  const admin = anAdmin();
  expect((await admin.import(header + rows(0, count))).status).toBe(0);
  return admin;
}

/** Runs a command and kills it at a moment of chance, most often in the middle of it. */
async function kill(admin: Admin, round: number, ...args: string[]): Promise<void> {
  const child = admin.start(...args);
  await Bun.sleep(60 + ((round * 37) % rounds) * 25 + Math.random() * 20);
  child.kill("SIGKILL");
  await child.exited;
}

test("a killed backup is complete or absent", async () => {
  const admin = await aFile(3000);
  const file = join(admin.folder, "copy.db");
  const exported = await admin.exported();
  for (let round = 0; round < rounds; round++) {
    await kill(admin, round, "backup", file);
    if (existsSync(file)) expect((await admin.run("backup", "--drill", file)).status).toBe(0);
    for (const name of [file, `${file}.manifest.json`]) rmSync(name, { force: true });
  }
  expect((await admin.run("backup", file)).status).toBe(0);
  // What the killed ones have left is gone as well.
  const left = readdirSync(admin.folder).filter((name) => name.startsWith("copy.db"));
  expect(left.toSorted()).toEqual(["copy.db", "copy.db.manifest.json"]);
  expect(await admin.exported()).toBe(exported);
});

test("a killed restore leaves the old file or the new one, never a mix", async () => {
  const admin = await aFile(3000);
  const file = join(admin.folder, "copy.db");
  expect((await admin.run("backup", file)).status).toBe(0);
  const restored = await admin.exported();
  await admin.run("lead", "erase", "acme", "--email", "d7@example.com");
  const erased = await admin.exported();
  await admin.import(header + rows(3000, 3010));
  const before = await admin.exported();
  for (let round = 0; round < rounds; round++) {
    await kill(admin, round, "restore", file);
    const now = await admin.exported();
    expect([before, erased]).toContain(now);
    if (now === erased) await admin.import(header + rows(3000, 3010));
  }
  expect((await admin.run("restore", file, "--json")).json).toMatchObject({ leads: 2999, erased_again: 1 });
  expect(await admin.exported()).toBe(erased);
  expect(restored).toContain("d7@example.com");
  expect(readdirSync(admin.folder).filter((name) => name.includes("draft"))).toEqual([]);
});
