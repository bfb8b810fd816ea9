/** §5: the key of a request. */
import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { createKey } from "../../src/contract/key.ts";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

describe("a request without a Bearer key", () => {
  test.each([
    ["no header", null],
    ["an empty header", ""],
    ["the scheme alone", "Bearer"],
    ["the scheme and spaces", "Bearer   "],
    ["the key alone", "KEY"],
    ["another scheme", "Basic KEY"],
    ["a longer scheme", "Bearers KEY"],
    ["no space", "BearerKEY"],
    ["a colon", "Bearer:KEY"],
  ])("with %s gets 401 missing_api_key and WWW-Authenticate: Bearer", async (_, header) => {
    const { send, aKey } = await serve();
    const answer = await send({ headers: header === null ? {} : { Authorization: header.replace("KEY", aKey()) } });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(JSON.parse(answer.body).error.code).toBe("missing_api_key");
  });

  test.each(["key", "api_key", "access_token", "token", "Authorization"])(
    "with a key in the URL as %s gets missing_api_key",
    async (name) => {
      const { anonymous, aKey } = await serve();
      const answer = await anonymous.get(`/leads?${name}=${aKey()}`);
      expect([answer.status, answer.body.error.code]).toEqual([401, "missing_api_key"]);
    },
  );
});

test("a key that is sent as a parameter is not repeated in full in the message", async () => {
  const { send, aKey } = await serve();
  const key = aKey();
  const answer = await send({ target: `/api/v1/leads?${key}=1`, headers: { Authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(400);
  expect(answer.body).toContain(`${key.slice(0, 8)}…`);
  expect(answer.body).not.toContain(key.slice(0, 10));
});

test.each(["Bearer KEY", "bearer KEY", "BEARER KEY", "bEaReR KEY", "Bearer    KEY", "Bearer KEY  "])(
  "the scheme is read in any case, and spaces around the key do not count: %j",
  async (header) => {
    const { send, aKey } = await serve();
    expect((await send({ headers: { Authorization: header.replace("KEY", aKey()) } })).status).toBe(200);
  },
);

describe("a key that does not exist", () => {
  const swapped = (key: string) => key.slice(0, 5) + key.charAt(6) + key.charAt(5) + key.slice(7);
  test.each<[string, (key: string) => string]>([
    ["a well-formed key that nobody has", () => createKey()],
    ["a key with a letter missing", (key) => key.slice(0, -1)],
    ["a key with a letter more", (key) => `${key}0`],
    ["a key with two letters swapped", (key) => (swapped(key) === key ? `x${key}` : swapped(key))],
    ["a key in upper case", (key) => key.toUpperCase()],
    ["a key in quotes", (key) => `"${key}"`],
    ["two keys", (key) => `${key} ${key}`],
    ["a word", () => "secret"],
    ["ten thousand letters", () => "a".repeat(10_000)],
    ["letters of another alphabet", () => "\u00e9\u00df"],
  ])("%s gets invalid_api_key", async (_, change) => {
    const { send, aKey } = await serve();
    const answer = await send({ headers: { Authorization: `Bearer ${change(aKey())}` } });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(JSON.parse(answer.body).error.code).toBe("invalid_api_key");
  });
});

test("every key of an account reads all its pixels", async () => {
  const { as, aKey } = await serve({ leads: [aLead({ pixel_id: "px_a" }), aLead({ pixel_id: "px_b" })] });
  for (const key of [aKey(), aKey()]) expect((await as(key).get("/leads")).body.data).toHaveLength(2);
});

test("a key is lf_, 32 random letters of base62, and the CRC-32 of all that in six more", () => {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const keys = Array.from({ length: 200 }, createKey);
  for (const key of keys) {
    expect(key).toMatch(/^lf_[0-9A-Za-z]{38}$/);
    const sum = [...key.slice(-6)].reduce((rest, letter) => rest * 62 + alphabet.indexOf(letter), 0);
    expect(sum).toBe(crc32(key.slice(0, -6)));
  }
  expect(new Set(keys).size).toBe(keys.length);
});

test("the file contains only the digest and the first eight characters of a key", async () => {
  const { aKey, store, file } = await serve();
  const key = aKey();
  store.flush();
  const wal = await Bun.file(`${file}-wal`).text();
  const held = (await Bun.file(file).text()) + wal;
  expect(held).toContain(key.slice(0, 8));
  expect(held).not.toContain(key.slice(8, 20));
});
