/** bun admin source among the other commands: without a database, without an output, on record, and over a restore. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../../support/admin.ts";
import { needing } from "../../../support/needing.ts";
import { runFull } from "../../../support/process.ts";
import { onTerminal, plain } from "../../../support/terminal.ts";

test.each(["source list acme", "source create acme"])("%s creates no database", async (line) => {
  const admin = anAdmin([]);
  const { status, stderr } = await admin.run(...line.split(" "));
  expect([status, stderr]).toEqual([1, expect.stringContaining("There is no database at")]);
  expect(existsSync(admin.file)).toBe(false);
});

test("source list without a source says: The account has no sources.", async () => {
  const { run } = anAdmin();
  expect(await run("source", "list", "acme")).toMatchObject({ status: 0, stdout: "The account has no sources.\n" });
  expect((await run("source", "list", "acme", "--json")).stdout).toBe("[]\n");
});

needing("/dev/full")("if the address cannot be shown, the error names the command that revokes it", async () => {
  const { status, stderr } = await runFull(anAdmin().file, "source", "create", "acme");
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining("The address was created but could not be shown. Revoke it: bun admin source revoke src_"),
  ]);
});

test("the audit shows the whole ID of a source in 80 columns", async () => {
  const admin = anAdmin();
  const { id: source } = (await admin.run("source", "create", "acme", "--json")).json;
  await admin.run("source", "revoke", source);
  const terminal = onTerminal(admin.file, ["audit", "list"]);
  await terminal.ended;
  expect(plain(terminal.shown()).match(new RegExp(`${source}$`, "gm"))).toHaveLength(2);
});

test("a source revoked after the backup stays revoked, and one created after it keeps working", async () => {
  const admin = anAdmin();
  const before = (await admin.run("source", "create", "acme", "--json")).json;
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
  await admin.run("source", "revoke", before.id);
  const since = (await admin.run("source", "create", "acme", "--label", "rb2b", "--json")).json;
  const { status, stderr } = await admin.run("restore", file);
  expect([status, stderr]).toEqual([0, expect.stringContaining("sources (2)")]);
  const sources = JSON.parse((await admin.run("source", "list", "acme", "--json")).stdout);
  expect(sources).toMatchObject([
    { id: before.id, state: "revoked" },
    { id: since.id, state: "active", label: "rb2b" },
  ]);
});
