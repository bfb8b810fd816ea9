/** §7: the errors, one by one, and what they do not tell. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { getTableName } from "drizzle-orm";
import type { RequestStore } from "../../src/api/request-store.ts";
import { errorCodes } from "../../src/contract/errors.ts";
import { DatabaseUnavailable } from "../../src/db/connection.ts";
import { leads } from "../../src/db/schema.ts";
import { aLead } from "../support/builders.ts";
import { eventually } from "../support/eventually.ts";
import { type Answer, serve } from "../support/harness.ts";

const of = ({ status, body }: Answer) => [status, body.error.code];

test("there are exactly twelve codes, each with its section in the documentation", async () => {
  expect(errorCodes).toHaveLength(12);
  const { url } = await serve();
  const page = await (await fetch(`${url}/docs`)).text();
  for (const code of errorCodes) expect(page).toContain(`id="${code}"`);
});

test("the messages about an unknown key, a revoked key, and a lapsed subscription say what to do", async () => {
  const { as, aKey, aRevokedKey, anAccount } = await serve();
  const messageFor = async (key: string) => (await as(key).get("/leads")).body.error.message;
  expect(await messageFor("lf_nonsense")).toEndWith("Check that the whole key was sent.");
  expect(await messageFor(aRevokedKey())).toEndWith("Ask the owner of the server for a new one.");
  expect(await messageFor(aKey(anAccount({ active: false })))).toEndWith("The owner of the server can activate it.");
});

describe("query_failed is answered", () => {
  const broken: [string, (file: string) => void][] = [
    ["deleted", (file) => rmSync(file)],
    ["overwritten with something else", (file) => writeFileSync(file, "not a database, ".repeat(4096))],
    ["emptied", (file) => writeFileSync(file, "")],
    [
      "replaced by another",
      (file) => {
        writeFileSync(`${file}.new`, "");
        renameSync(`${file}.new`, file);
      },
    ],
  ];
  test.each(broken)("if the file is %s while the server runs", async (_, breakIt) => {
    const { as, aKey, file, send, logged } = await serve({ leads: [aLead()] });
    const client = as(aKey());
    expect((await client.get("/leads")).status).toBe(200);
    breakIt(file);
    // Requests that come closer together than some milliseconds share one look at the file.
    await eventually(async () => expect((await client.get("/leads")).status).toBe(500));
    for (const path of ["/leads", "/pixels", "/usage", "/lead", "/leads?limit=0"]) {
      const answer = await client.get(path);
      expect(of(answer)).toEqual([500, "query_failed"]);
      expect(answer.text).not.toMatch(/select|sqlite|leadfile\.db|file/i);
    }
    expect((await send({ target: "/healthz" })).status).toBe(503);
    expect(logged.join("")).toMatch(/restart the server/i);
    expect(logged.at(-1)).toContain('"cause":"The database file ');
  });

  test("if a table is missing, only where it is needed", async () => {
    const { as, aKey, file } = await serve({ leads: [aLead({ city: "Reno" })] });
    const client = as(aKey());
    using other = new Database(file);
    other.run(`ALTER TABLE ${getTableName(leads)} RENAME TO gone`);
    const answer = await client.get("/leads?city=Ely");
    expect(of(answer)).toEqual([500, "query_failed"]);
    expect(answer.text).not.toMatch(/select|no such table|Ely/i);
    expect((await client.get("/pixels")).status).toBe(200);
    other.run(`ALTER TABLE gone RENAME TO ${getTableName(leads)}`);
    expect((await client.get("/leads?city=reno")).body.data).toHaveLength(1);
  });

  test("if the keys cannot be read, with the rate limit headers", async () => {
    const fail = () => {
      throw new DatabaseUnavailable("disk I/O error", "");
    };
    const { as, aKey, logged } = await serve({ limit: 60, store: (real) => ({ ...real, keys: { find: fail } }) });
    const answer = await as(aKey()).get("/leads");
    expect([...of(answer), answer.headers.get("x-ratelimit-remaining")]).toEqual([500, "query_failed", "60"]);
    expect(logged.join("")).toContain("disk I/O error");
  });
});

describe("any other failure is internal_error", () => {
  const fail = () => {
    throw new TypeError("SELECT dana@example.com FROM /srv/leads");
  };
  const failing: [string, string, (real: RequestStore) => RequestStore][] = [
    ["finding the key", "/leads", (real) => ({ ...real, keys: { find: fail } })],
    ["reading leads", "/leads", (real) => ({ ...real, leads: { page: fail } })],
    ["finding a pixel", "/leads?pixel_id=px_site", (real) => ({ ...real, pixels: { list: fail, has: fail } })],
    ["reading pixels", "/pixels", (real) => ({ ...real, pixels: { list: fail, has: fail } })],
    ["reading usage", "/usage", (real) => ({ ...real, usage: { count: () => {}, of: fail } })],
    ["counting", "/leads", (real) => ({ ...real, usage: { count: fail, of: fail } })],
  ];
  test.each(failing)("in %s", async (_, path, store) => {
    const { as, aKey, logged } = await serve({ leads: [aLead()], store });
    const answer = await as(aKey()).get(path);
    expect(of(answer)).toEqual([500, "internal_error"]);
    expect(answer.text).not.toMatch(/select|dana|srv|TypeError/i);
    expect(answer.headers.get("x-ratelimit-limit")).not.toBeNull();
    const line = JSON.parse(logged.at(-1) ?? "");
    expect(line).toMatchObject({ level: 50, status: 500, id: answer.headers.get("x-request-id") });
  });
});
