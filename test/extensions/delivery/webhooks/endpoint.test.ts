/** The webhook endpoint: accepted deliveries are on the disk before the answer, refused ones leave nothing behind. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { createKey } from "../../../../src/contract/key.ts";
import { revokeSource } from "../../../../src/db/sources.ts";
import { receive, sentenceOf, visitsIn } from "./receiving.ts";

const visit = { email: "dana@example.com", page_url: "https://www.example.com/pricing" };

const aVisit = fc.dictionary(fc.string(), fc.jsonValue());

/** Some visits, and a body that has them: one object, an array, or an object a line. */
const aBody = fc.oneof(
  aVisit.map((one) => ({ sent: [one], text: JSON.stringify(one, null, 2) })),
  fc
    .tuple(fc.array(aVisit, { maxLength: 5 }), fc.constantFrom(0, 1))
    .map(([sent, indent]) => ({ sent, text: JSON.stringify(sent, null, indent) })),
  fc
    .array(aVisit, { minLength: 1, maxLength: 5 })
    .map((sent) => ({ sent, text: `${sent.map((one) => JSON.stringify(one)).join("\n\n")}\r\n` })),
);
const types = ["application/json", "application/json; charset=utf-8", "text/plain", "application/x-ndjson"];
const aType = fc.constantFrom({}, ...types.map((type) => ({ "Content-Type": type })));
const aPacking = fc.constantFrom(
  { pack: (text: string) => Buffer.from(text), encoding: {} },
  { pack: gzipSync, encoding: {} },
  { pack: gzipSync, encoding: { "Content-Encoding": "gzip" } },
);

describe("a delivery is stored unchanged", () => {
  test("whatever visits it has, in each form, with each Content-Type, gzipped or not", async () => {
    const { aSource, url, kept } = await receive();
    const isStored = fc.asyncProperty(aBody, aType, aPacking, async ({ sent, text }, type, { pack, encoding }) => {
      const { token, id } = aSource();
      const body = new Uint8Array(pack(text));
      const answer = await fetch(`${url}/in/${token}`, { method: "POST", body, headers: { ...type, ...encoding } });
      expect([answer.status, await answer.json()]).toEqual([200, { object: "delivery", visits: sent.length }]);
      expect(JSON.stringify(kept(id))).toBe(JSON.stringify(JSON.parse(JSON.stringify(sent))));
    });
    await fc.assert(isStored, { numRuns: 150 });
  });

  test("with its token in the Authorization header instead of the path", async () => {
    const { url, token, kept } = await receive();
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/in`, { method: "POST", body: JSON.stringify(visit), headers })).status).toBe(200);
    expect(kept()).toEqual([visit]);
  });

  test("with 1 MB, as it is sent and unpacked", async () => {
    const { deliver, kept } = await receive();
    const note = "x".repeat(1_000_000 - '{"note":""}'.length);
    const body = JSON.stringify({ note });
    for (const sent of [body, new Uint8Array(gzipSync(body))]) expect((await deliver(sent)).status).toBe(200);
    expect(kept()).toEqual([{ note }, { note }]);
  });

  test("with every digit of its numbers", async () => {
    const { deliver, folder, id } = await receive();
    await deliver(`{"id":12345678901234567890,"price":1.50}`);
    const [file = ""] = readdirSync(`${folder}/${id}`);
    expect(readFileSync(`${folder}/${id}/${file}`, "utf8")).toContain(
      `"records":[{"id":12345678901234567890,"price":1.50}]}\n`,
    );
  });

  const form = { "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8" };

  test.each<[string, unknown]>([
    ["email=dana%40example.com&name=Dana+Reed&empty=", { email: "dana@example.com", name: "Dana Reed", empty: "" }],
    [
      "contact[email]=d%40example.com&contact[tags][]=a&contact[tags][]=b",
      { contact: { email: "d@example.com", tags: ["a", "b"] } },
    ],
    ["tag=a&tag=b&tag=c", { tag: ["a", "b", "c"] }],
    ["__proto__[x]=1&toString=2", JSON.parse('{"__proto__":{"x":"1"},"toString":"2"}')],
    [JSON.stringify(visit), visit],
  ])("as a form: %s", async (body, sent) => {
    const { deliver, kept } = await receive();
    expect((await deliver(body, form)).status).toBe(200);
    expect(JSON.stringify(kept())).toBe(JSON.stringify([sent]));
  });

  test("for a source that this node of a cluster does not have yet", async () => {
    const token = createKey("lfin_");
    let isThere = false;
    const receiver = await receive({
      catchUp() {
        if (!isThere) receiver.aSource(token);
        isThere = true;
      },
    });
    const answer = await fetch(`${receiver.url}/in/${token}`, { method: "POST", body: JSON.stringify(visit) });
    expect(answer.status).toBe(200);
  });
});

describe("a delivery is rejected with one clear sentence", () => {
  test.each([
    ["no token", "/in", 401, "/in/lfin_"],
    ["an unknown token", "/in/lfin_00000000000000000000000000000000000000", 401, "does not exist"],
    ["an API key", "/in/lf_00000000000000000000000000000000000000", 401, "does not exist"],
    ["another path", "/api/v1/leads", 404, "/in/TOKEN"],
  ])("with %s", async (_, path, status, says) => {
    const { url, folder } = await receive();
    const answer = await fetch(url + path, { method: "POST", body: JSON.stringify(visit) });
    expect([answer.status, await sentenceOf(answer)]).toEqual([status, expect.stringContaining(says)]);
    expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
    expect(visitsIn(folder)).toEqual([]);
  });

  test("with a revoked token, from the next delivery", async () => {
    const { deliver, database, id, kept } = await receive();
    expect((await deliver(JSON.stringify(visit))).status).toBe(200);
    await revokeSource(database, id, Date.now());
    expect((await deliver(JSON.stringify(visit))).status).toBe(401);
    expect(kept()).toHaveLength(1);
  });

  test.each(["GET", "PUT", "DELETE"])("by %s", async (method) => {
    const { url, token } = await receive();
    const answer = await fetch(`${url}/in/${token}`, { method });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  const large = new Uint8Array(1_000_001).fill(32);
  const packed = new Uint8Array(gzipSync(JSON.stringify(visit)));

  test.each<[what: string, body: string | Uint8Array<ArrayBuffer>, status: number, says: string, type: string]>([
    ["nothing", "", 400, "empty", "application/json"],
    ["a text", "hello", 400, "Line 1 is not a JSON object", "application/json"],
    ["a number", "7", 400, "The body is not a JSON object", "application/json"],
    ["a line that is none", `{"a":1}\n{"b":`, 400, "Line 2 is not a JSON object", "application/json"],
    ["an element that is none", `[{"a":1},2]`, 400, "Element 2 of the array is not a JSON object", "application/json"],
    ["a gzip that is cut off", packed.slice(0, 20), 400, "gzip", "application/json"],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), 400, "UTF-8", "application/json"],
    ["larger than 1 MB as it is sent", large, 413, "1 MB", "application/json"],
    ["larger than 1 MB unpacked", new Uint8Array(gzipSync(large)), 413, "1 MB", "application/json"],
    ["a form in parts", "email=dana%40example.com", 415, "multipart/form-data", "multipart/form-data; boundary=x"],
    ["a page", "email=dana%40example.com", 415, "text/html", "text/html"],
  ])("that is %s", async (_, body, status, says, type) => {
    const { deliver, kept } = await receive();
    const answer = await deliver(body, { "Content-Type": type });
    expect([answer.status, await sentenceOf(answer)]).toEqual([status, expect.stringContaining(says)]);
    expect(kept()).toEqual([]);
  });

  const full = () => Promise.reject(Object.assign(new Error("no space left"), { code: "ENOSPC" }));

  test.each([
    ["the disk is full", { append: full }],
    ["a gigabyte is pending", { size: async () => 1_000_000_000 }],
  ])("while %s, with a Retry-After", async (_, broken) => {
    const { deliver, kept } = await receive({ spool: (real) => ({ ...real, ...broken }) });
    const answer = await deliver(JSON.stringify(visit));
    expect([answer.status, answer.headers.get("retry-after"), kept()]).toEqual([503, "30", []]);
  });
});

test("the log contains no token and no personal data", async () => {
  const { deliver, url, token, logged } = await receive();
  await deliver(JSON.stringify(visit));
  await fetch(`${url}/in/${token}x`, { method: "POST", body: JSON.stringify(visit) });
  expect(logged).toHaveLength(2);
  for (const line of logged) {
    expect(line).not.toContain("lfin_");
    expect(line).not.toContain("example.com");
  }
});

test("the log repeats the response to a rejected delivery", async () => {
  const { deliver, logged, id } = await receive();
  const answer = await deliver("name=Dana", { "Content-Type": "text/html" });
  const { code, why } = JSON.parse(logged.at(-1) ?? "");
  expect(logged.at(-1)).toContain(`"source":"${id}","status":415`);
  expect(await answer.json()).toEqual({ error: { code, message: why } });
  expect(why).toContain("send application/json");
});

test("a delivery over plain HTTP to a trusted proxy is redirected, and the log warns of its token", async () => {
  const { url, token, kept, logged, id } = await receive({ trustProxy: true });
  const answer = await fetch(`${url}/in/${token}`, {
    method: "POST",
    body: JSON.stringify(visit),
    headers: { "X-Forwarded-Proto": "http" },
    redirect: "manual",
  });
  expect([answer.status, answer.headers.get("location")]).toEqual([308, `https://www.example.com/in/${token}`]);
  expect(kept()).toEqual([]);
  expect(logged.join("")).toContain(id);
  expect(logged.join("")).not.toContain("lfin_");
});

test.each(["\u009b2J", "dana@example.com", "text/dana@example.com", "x/lfin_0123456789abcdef"])(
  "a Content-Type that is none, %j, is in no line of the log",
  async (type) => {
    const { deliver, logged } = await receive();
    expect((await deliver("{}", { "Content-Type": type })).status).toBe(415);
    expect(JSON.parse(logged.at(-1) ?? "")).toMatchObject({
      why: "The Content-Type is not supported; send application/json.",
    });
  },
);
