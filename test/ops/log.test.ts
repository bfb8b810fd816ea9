/** The log: one JSON line per request, and nothing in it that is secret or about a person. */

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { getTableName } from "drizzle-orm";
import { createKey } from "../../src/contract/key.ts";
import { leads } from "../../src/sqlite/tables.ts";
import { aLead } from "../builders.ts";
import { serve } from "../harness.ts";

test("a request is one line of JSON with method, path, status, time taken, key prefix and the id of the answer", async () => {
  const { as, aKey, logged } = await serve();
  const key = aKey();
  const { headers } = await as(key).get("/leads?limit=5");
  expect(logged).toHaveLength(1);
  expect(JSON.parse(logged[0] ?? "")).toMatchObject({
    level: 30,
    method: "GET",
    path: "/api/v1/leads",
    status: 200,
    us: expect.any(Number),
    key: key.slice(0, 8),
    id: headers.get("x-request-id"),
  });
});

test("a refusal is logged with its code, and without the key that was tried", async () => {
  const { as, logged } = await serve();
  const tried = createKey();
  await as(tried).get("/leads");
  expect(JSON.parse(logged[0] ?? "")).toMatchObject({ status: 401, code: "invalid_api_key" });
  expect(logged.join("")).not.toContain(tried.slice(3, 20));
});

test("no key, no query and nothing of a lead is ever in the log", async () => {
  const person = { name: "Dana Whitfield", email: "dana@example.com", phone: "15550142", city: "Zzyzx" };
  const { send, aKey, aRevokedKey, logged, admin, account } = await serve({ leads: [aLead(person)] });
  const keys = [aKey(), aRevokedKey(), createKey()];
  const query = "?city=Zzyzx&before=2027-01-01T00:00:00Z";
  for (const key of keys) {
    const headers = {
      Authorization: `Bearer ${key}`,
      "User-Agent": "dana@example.com",
      Referer: "https://dana@example.com",
    };
    const targets = [`/api/v1/leads${query}`, "/api/v1/leads?city=", `/api/v1/${key}`, `/docs/${key}`];
    for (const target of [...targets, "/api/v1/leads/dana@example.com", "/dana%40example.com", `/?key=${key}`]) {
      await send({ target, headers });
      await send({ target, headers, method: "POST" });
    }
  }
  admin.accounts.setActive(account.number, false);
  await send({ target: `/api/v1/leads${query}`, headers: { Authorization: `Bearer ${keys[0]}` } });
  const log = logged.join("");
  expect(logged.length).toBeGreaterThan(40);
  for (const key of keys) expect(log).not.toContain(key.slice(8));
  expect(log).not.toMatch(/Zzyzx|dana|15550142|whitfield|2027-01-01/i);
});

test("what a failed query was asked for is not in the log, and what failed is", async () => {
  const { as, aKey, logged, file } = await serve({ leads: [aLead({ city: "Zzyzx" })] });
  using other = new Database(file);
  other.run(`ALTER TABLE ${getTableName(leads)} RENAME TO gone`);
  expect((await as(aKey()).get("/leads?city=Zzyzx")).status).toBe(500);
  const log = logged.join("");
  expect(log).toContain("no such table");
  expect(log).not.toMatch(/zzyzx|select/i);
});

test("a path of any length makes a short line", async () => {
  const { send, logged } = await serve();
  await send({ target: `/${"x".repeat(5_000)}` });
  expect((logged[0] ?? "").length).toBeLessThan(600);
});
