/** bun admin doctor on a disk that is full, or soon will be. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../support/admin.ts";
import { needing } from "../../support/needing.ts";
import { aSmallDisk, fill } from "../../support/small-disk.ts";

needing("mount")("a disk that is full is not taken for a damaged file, which would be moved away", async () => {
  const admin = anAdmin([]);
  using disk = aSmallDisk(admin.folder, "size=2m");
  const full = anAdmin([], { DATABASE_PATH: join(disk.path, "leads.db") });
  await full.run("account", "create", "acme");
  fill(disk.path);
  // What a program that found no room has left.
  writeFileSync(join(disk.path, "leads.db-wal"), "");
  writeFileSync(join(disk.path, "leads.db-shm"), "");
  const { status, stdout } = await full.run("doctor");
  expect(status).toBe(2);
  expect(stdout).toMatch(/Only [^\n]+ free/);
  expect(stdout).not.toMatch(/damaged|Move it away/);
});

needing("mount")("a disk without room for the file a second time is worth a look", async () => {
  const admin = anAdmin([]);
  using disk = aSmallDisk(admin.folder, "size=60m,mode=700");
  const small = anAdmin([], { DATABASE_PATH: join(disk.path, "leads.db") });
  await small.run("account", "create", "acme");
  const { status, stdout } = await small.run("doctor", "--json");
  expect([status, stdout]).toEqual([1, expect.stringMatching(/Only 6\d\.\d MB are free/)]);
});
