/** bun admin source: what it creates and lists, the leads that a payload would become, and sources over a restore. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../../support/admin.ts";
import { needing } from "../../../support/needing.ts";
import { toFullDisk } from "../../../support/small-disk.ts";
import { onTerminal, plain } from "../../../support/terminal.ts";

test.each(["source list acme", "source create acme"])("%s creates no database", async (line) => {
  const admin = anAdmin([]);
  const { status, stderr } = await admin.run(...line.split(" "));
  expect([status, stderr]).toEqual([1, expect.stringContaining("There is no database at")]);
  expect(existsSync(admin.file)).toBe(false);
});

needing("/dev/full")("if the address cannot be shown, the error names the command that revokes it", async () => {
  const { exited, errors } = anAdmin().startUnder([], ["source", "create", "acme"], toFullDisk());
  expect([await exited, errors()]).toEqual([
    1,
    expect.stringContaining("The address was created but could not be shown. Revoke it: bun admin source revoke src_"),
  ]);
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

test("a source is shown once, listed without its token, revoked forever, and named whole by the audit", async () => {
  const admin = anAdmin();
  const made = await admin.run("source", "create", "acme", "--label", "rb2b");
  expect(made.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/in\/lfin_[0-9A-Za-z]{38}\n$/);
  const token = made.stdout.trim().split("/").at(-1) ?? "";
  const listed = await admin.run("source", "list", "acme");
  expect(listed.stdout).toContain("rb2b");
  expect(listed.stdout).not.toContain(token);
  const [source] = JSON.parse((await admin.run("source", "list", "acme", "--json")).stdout);
  expect(source.revoked_at).toBeNull();
  const revoked = await admin.run("source", "revoke", source.id, "--json");
  expect(revoked.json).toMatchObject({ id: source.id, state: "revoked", revoked_at: expect.stringMatching(/Z$/) });
  const terminal = onTerminal(admin.file, ["audit", "list"]);
  await terminal.ended;
  expect(plain(terminal.shown()).match(new RegExp(`${source.id}$`, "gm"))).toHaveLength(2);
});

test.each([
  [["--pixel", "px_none"], "px_none"],
  [["--timezone", "Mars"], "Mars"],
  [["--map", "x"], "--map"],
])("source create %j is rejected before anything is created", async (options, named) => {
  const admin = anAdmin();
  const { status, stderr } = await admin.run("source", "create", "acme", ...options);
  expect([status > 0, stderr]).toEqual([true, expect.stringContaining(named)]);
  expect((await admin.run("source", "list", "acme")).stdout).toBe("The account has no sources.\n");
  expect((await admin.run("source", "list", "acme", "--json")).stdout).toBe("[]\n");
});

const payload = JSON.stringify({
  Mail: "dana@example.com",
  email: "kim@vendor.example",
  url: "https://shop.example.com/",
  Owner: "Kim",
  at: "2026-01-31T09:15:00Z",
});

async function aSource(...options: readonly string[]) {
  const admin = anAdmin();
  const create = ["source", "create", "acme", "--pixel", "px_site", "--create-pixels", "--json", ...options];
  const { id } = (await admin.run(...create)).json;
  const testing = (body: string, ...how: string[]) => admin.give(body, "source", "test", id, ...how);
  return { admin, testing, told: async (body: string) => JSON.parse((await testing(body, "--json")).stdout) };
}

const fieldsOf = (columns: readonly { column: string; field: string | null }[]) =>
  Object.fromEntries(columns.map(({ column, field }) => [column, field]));

describe("source test shows each name with its field, and the lead", () => {
  test.each([
    [[], {}, "kim@vendor.example"],
    [["--stamp", "source"], { at: "identified_at" }, "kim@vendor.example"],
    [["--map", "Mail=email,email=-"], { email: null }, "dana@example.com"],
    [
      ["--map", "Mail=verified_email,url=referrer,Owner=name"],
      { Mail: "verified_email", url: "referrer", Owner: "name" },
      "kim@vendor.example",
    ],
  ])("with the options %j", async (options, fields, email) => {
    const { told, admin } = await aSource(...options);
    const { leads, rejected, columns, warnings } = await told(payload);
    const ordinary = { Mail: "email", email: "email", url: "page_url", Owner: null, at: null };
    expect(fieldsOf(columns)).toEqual({ ...ordinary, ...fields });
    expect([leads, rejected, warnings]).toEqual([[expect.objectContaining({ email, pixel_id: "px_site" })], [], []]);
    expect(await admin.leads()).toEqual([]);
  });
});

test("a source keeps the profile that its deliveries are read by, and refuses one that is unknown", async () => {
  const { admin } = await aSource("--vendor", "rb2b");
  const [source] = JSON.parse((await admin.run("source", "list", "acme", "--json")).stdout);
  expect(source.options).toMatchObject({ vendor: "rb2b" });
  const unknown = await admin.run("source", "create", "acme", "--vendor", "nobody");
  expect([unknown.status > 0, unknown.stderr]).toEqual([true, expect.stringContaining("nobody")]);
});

test("source test shows a person the fields of the lead next to the names that they come from", async () => {
  const { testing } = await aSource("--map", "Mail=email,email=-");
  const { stdout, stderr, status } = await testing(payload);
  expect(stderr).toContain("Not kept: email, Owner, at.\n");
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^ {2}email +dana@example\.com +Mail$/m)]);
  expect(stdout).toContain("The lead, as it would be served:");
});

test.each([
  ["a visit that would be rejected", JSON.stringify({ Owner: "Kim" }), 0, /Visit 1 would be rejected: it has no value/],
  ["a payload that would be refused", "no JSON", 1, /The delivery would be answered with 4\d\d /],
])("source test says why: %s", async (_, body, status, reason) => {
  const { testing } = await aSource();
  const ended = await testing(body);
  expect(ended.status).toBe(status);
  expect(ended.stdout + ended.stderr).toMatch(reason);
});

test("source test of an unknown ID names the command that lists them", async () => {
  const ended = await anAdmin().give(payload, "source", "test", "src_none");
  expect([ended.status, ended.stderr]).toEqual([1, expect.stringContaining("source list ACCOUNT")]);
});
