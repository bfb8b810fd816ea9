/** What can be shown this one time, where standard output takes nothing. */
import { expect } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { needing } from "../support/needing.ts";

const admin = join(import.meta.dir, "../../src/admin.ts");
const full = needing("/dev/full");

/** Runs a command whose standard output is a full disk. */
async function runFull(database: string, ...words: string[]) {
  const full = openSync("/dev/full", "w");
  const child = Bun.spawn([process.execPath, admin, ...words], {
    env: { ...process.env, DATABASE_PATH: database },
    stdout: full,
    stderr: "pipe",
  });
  const [stderr, status] = await Promise.all([child.stderr.text(), child.exited]);
  closeSync(full);
  return { stderr, status };
}

full("a receipt that cannot be written is in the file, and the erasure is complete", async () => {
  const { file, import: importRows, leads, run } = anAdmin();
  await importRows("email,verified_email\ndana@example.com,d2@example.com\n", "--pixel", "px", "--create-pixels");
  const { stderr, status } = await runFull(file, "lead", "erase", "acme", "--email", "dana@example.com");
  expect(status).toBe(1);
  expect(stderr).toContain("Standard output could not be written (ENOSPC).");
  expect(stderr).toContain("They are stored: receipt list ACCOUNT prints them.");
  expect(stderr).toContain("No other lead has the address");
  expect(JSON.parse((await run("receipt", "list", "acme")).stdout).hashes).toHaveLength(2);
  expect(await leads()).toEqual([]);
});

full.each([
  ["key", "The key was created but could not be shown. Revoke it: bun admin key revoke key_"],
  ["source", "The address was created but could not be shown. Revoke it: bun admin source revoke src_"],
])("a %s that cannot be shown is said with the command that revokes it", async (noun, says) => {
  const { file } = anAdmin();
  const { stderr, status } = await runFull(file, noun, "create", "acme");
  expect(status).toBe(1);
  expect(stderr).toContain(says);
});
