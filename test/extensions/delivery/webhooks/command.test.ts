/** bun admin receive: deliveries become leads, whatever happens to the process. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { anAdmin } from "../../../support/admin.ts";
import { eventually } from "../../../support/eventually.ts";
import { startReceiving, visitsIn } from "./receiving.ts";

/** Its endpoint listens on a free port. */
const anAdminWithEndpoint = () => anAdmin(["acme"], { RECEIVE_PORT: "0", LOG_LEVEL: "silent" });

test.each([
  ["SIGTERM", 0],
  ["SIGHUP", 129],
] as const)("an endpoint with nothing under way ends at %s, long before its next import", async (signal, status) => {
  const { endpoint } = await startReceiving(anAdminWithEndpoint(), 3600);
  expect(await endpoint.end(signal)).toBe(status);
});

test("deliveries of many shapes are served, and each that cannot be read is rejected alone", async () => {
  const admin = anAdminWithEndpoint();
  await admin.run("pixel", "create", "acme", "--id", "px_shop");
  const { id, token } = (await admin.run("source", "create", "acme", "--pixel", "px_shop", "--json")).json;
  const { url } = await startReceiving(admin);
  const withNames = (person: string, names: number) => ({
    ...Object.fromEntries(Array.from({ length: names - 1 }, (_, n) => [`${person} ${n}`, "x"])),
    email: `${person}@example.com`,
  });
  const seenAt = (minute: number) => ({
    "Business Email": "dana@example.com",
    "Seen At": `2024-01-01T12:0${minute}:56:00.00+00.00`,
  });
  const deliveries = [
    // Two visits of one person, the second of which comes twice: nobody can read their time.
    [seenAt(1), seenAt(2), seenAt(1)],
    { u1: { email: "dana@example.com" }, u2: { email: "lee@example.com" } },
    { email: "kim@example.com", more: JSON.parse("[".repeat(2000) + "]".repeat(2000)) },
    [withNames("lee", 1999), withNames("mia", 2000), withNames("noa", 2001), withNames("sam", 900)],
  ];
  for (const visits of deliveries) {
    const answer = await fetch(`${url}/in/${token}`, { method: "POST", body: JSON.stringify(visits) });
    expect(answer.status).toBe(200);
  }
  const served = ["dana", "dana", "kim", "lee", "mia", "sam"].map((person) => `${person}@example.com`);
  await eventually(async () => expect((await admin.leads()).map(({ email }) => email).toSorted()).toEqual(served));
  const rejected = () => visitsIn(join(`${admin.file}.spool`, id, "rejected"));
  await eventually(async () => expect(rejected()).toHaveLength(2));
  expect(rejected()).toContainEqual(expect.objectContaining({ reject_reason: "it has more than 2,000 names" }));
});

test("rejects a second endpoint on the same file", async () => {
  const admin = anAdminWithEndpoint();
  await startReceiving(admin);
  const second = await admin.run("receive");
  expect([second.status, second.stderr]).toEqual([1, expect.stringContaining("Another process receives deliveries")]);
});

test("a used port and a foreign host are rejected with the setting to change", async () => {
  const { url } = await startReceiving(anAdminWithEndpoint());
  const { port } = new URL(url);
  const onTaken = await anAdmin(["acme"], { RECEIVE_PORT: port }).run("receive");
  expect([onTaken.status, onTaken.stderr]).toEqual([1, expect.stringMatching(/^Port \d+ .*RECEIVE_PORT[^\n]*\n$/)]);
  const elsewhere = await anAdmin(["acme"], { RECEIVE_HOST: "nosuch.invalid", TRUST_PROXY: "1" }).run("receive");
  expect([elsewhere.status, elsewhere.stderr]).toEqual([2, expect.stringMatching(/^RECEIVE_HOST is [^\n]*\n$/)]);
});
