/** bun admin source test: the leads that a payload would become under the mapping of its source. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../../../support/admin.ts";

const payload = JSON.stringify({
  Mail: "dana@example.com",
  email: "kim@vendor.example",
  url: "https://shop.example.com/",
  Owner: "Kim",
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
    [[], { Mail: "email", email: "email", url: "page_url", Owner: null }, "kim@vendor.example"],
    [["--map", "Mail=email,email=-"], { Mail: "email", email: null, url: "page_url", Owner: null }, "dana@example.com"],
    [
      ["--map", "Mail=verified_email,url=referrer,Owner=name"],
      { Mail: "verified_email", email: "email", url: "referrer", Owner: "name" },
      "kim@vendor.example",
    ],
  ])("with the mapping %j", async (map, fields, email) => {
    const { told, admin } = await aSource(...map);
    const { leads, rejected, columns, warnings } = await told(payload);
    expect(fieldsOf(columns)).toEqual(fields);
    expect([leads, rejected, warnings]).toEqual([[expect.objectContaining({ email, pixel_id: "px_site" })], [], []]);
    expect(await admin.leads()).toEqual([]);
  });
});

test("source test shows a person the fields of the lead next to the names that they come from", async () => {
  const { testing } = await aSource("--map", "Mail=email,email=-");
  const { stdout, status } = await testing(payload);
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
