/** A command where there is no database yet. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { anAdmin } from "../support/admin.ts";

test.each([
  "account activate acme",
  "account deactivate acme",
  "pixel list acme",
  "pixel create acme",
  "pixel set-status acme px paused",
  "key list acme",
  "key create acme",
  "key revoke key_x --yes",
  "key rotate key_x",
  "lead export acme",
  "lead find acme --email dana@example.com",
  "lead erase acme --email dana@example.com",
  "lead unblock acme --email dana@example.com",
  "lead import acme - --pixel px",
  "import list acme",
  "import undo acme 1",
  "retain acme --days 30",
  "stats acme",
  "audit list",
])("%s creates none, and says how one is created", async (line) => {
  const admin = anAdmin([]);
  const ended = await admin.run(...line.split(" "));
  expect([ended.status, ended.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^There is no database at \S+leadfile\.db yet\. To create one: bun admin account create NAME/,
    ),
  ]);
  expect(existsSync(admin.file)).toBe(false);
});

test("account list creates none, and lists nothing", async () => {
  const admin = anAdmin([]);
  expect(await admin.run("account", "list", "--json")).toMatchObject({ status: 0, stdout: "[]\n" });
  expect(existsSync(admin.file)).toBe(false);
});

test("doctor creates none, and finds it missing", async () => {
  const admin = anAdmin([]);
  const { status, stdout } = await admin.run("doctor");
  expect([status, stdout]).toEqual([2, expect.stringContaining("There is no database at")]);
  expect(existsSync(admin.file)).toBe(false);
});

test.each(["account create acme", "demo"])("%s creates it", async (line) => {
  const admin = anAdmin([]);
  expect((await admin.run(...line.split(" "))).status).toBe(0);
  expect(existsSync(admin.file)).toBe(true);
});
