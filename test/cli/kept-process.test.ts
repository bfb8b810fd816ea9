/** What lets tests run commands in a process that is kept: it says and leaves what a process of its own does. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { anAdmin } from "../support/admin.ts";

test.each([
  [["--help"]],
  [["account", "list", "--json"]],
  [["lead", "export", "acme"]],
  [["lead", "import", "acme", "nowhere.csv"]],
  [["key", "revoke", "key_of_nobody"]],
  [["account", "creat"]],
])("%j ends with the same status, and says the same", async (args) => {
  const admin = anAdmin();
  await admin.import("date,pixel_id,email\n2026-01-31,px,dana@example.com\n");
  const own = admin.start(...args);
  const [stdout, stderr, status] = await Promise.all([own.stdout.text(), own.stderr.text(), own.exited]);
  expect(await admin.run(...args)).toMatchObject({ status, stdout, stderr });
});

test("after each command the file is closed, its log copied in", async () => {
  const admin = anAdmin();
  for (const args of [
    ["account", "list"],
    ["account", "create", "other"],
    ["lead", "import", "acme", "nowhere.csv"],
  ]) {
    await admin.run(...args);
    expect(existsSync(`${admin.file}-wal`)).toBe(false);
  }
});
