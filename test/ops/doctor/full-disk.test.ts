/** bun admin doctor on a disk that is full, or soon will be. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../admin.ts";

// Only root may mount a disk that is full soon.
const mounts =
  Bun.spawnSync([
    "sh",
    "-c",
    "d=$(mktemp -d); mount -t tmpfs -o size=16k none $d && umount $d; e=$?; rmdir $d; exit $e",
  ]).exitCode === 0;

test.skipIf(!mounts)("a disk that is full is not taken for a damaged file, which would be moved away", async () => {
  const admin = anAdmin([]);
  const disk = join(admin.folder, "disk");
  mkdirSync(disk);
  expect(Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk]).exitCode).toBe(0);
  try {
    const full = anAdmin([], { DATABASE_PATH: join(disk, "leads.db") });
    await full.run("account", "create", "acme");
    Bun.spawnSync(["dd", "if=/dev/zero", `of=${join(disk, "rest")}`, "bs=1k"]);
    // What a program that found no room has left.
    writeFileSync(join(disk, "leads.db-wal"), "");
    writeFileSync(join(disk, "leads.db-shm"), "");
    const { status, stdout } = await full.run("doctor");
    expect(status).toBe(2);
    expect(stdout).toMatch(/Only [^\n]+ free/);
    expect(stdout).not.toMatch(/damaged|Move it away/);
  } finally {
    Bun.spawnSync(["umount", disk]);
  }
});

test.skipIf(!mounts)("a disk without room for the file a second time is worth a look", async () => {
  const admin = anAdmin([]);
  const disk = join(admin.folder, "disk");
  mkdirSync(disk);
  expect(Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=60m,mode=700", "none", disk]).exitCode).toBe(0);
  try {
    const small = anAdmin([], { DATABASE_PATH: join(disk, "leads.db") });
    await small.run("account", "create", "acme");
    const { status, stdout } = await small.run("doctor", "--json");
    expect([status, stdout]).toEqual([1, expect.stringMatching(/Only 6\d\.\d MB are free/)]);
  } finally {
    Bun.spawnSync(["umount", disk]);
  }
});
