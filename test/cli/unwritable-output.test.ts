/** What can be shown this one time, where standard output takes nothing. */
import { expect } from "bun:test";
import { anAdmin } from "../support/admin.ts";
import { needing } from "../support/needing.ts";
import { runFull } from "../support/process.ts";

const full = needing("/dev/full");

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

full("a key that cannot be shown is said with the command that revokes it", async () => {
  const { status, stderr } = await runFull(anAdmin().file, "key", "create", "acme");
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining("The key was created but could not be shown. Revoke it: bun admin key revoke key_"),
  ]);
});
