/** bun admin source and receive: deliveries become leads, whatever happens to the process. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../../../support/admin.ts";
import { eventually } from "../../../support/eventually.ts";

/** Its endpoint listens on a free port. */
const anAdminWithEndpoint = () => anAdmin(["acme"], { RECEIVE_PORT: "0", LOG_LEVEL: "silent" });

/** Starts the endpoint, which imports what came ten times a second or every so many seconds, and gives its address. */
async function opened(admin: Admin, everySeconds = 0.1) {
  const endpoint = admin.start("receive", "--every", String(everySeconds));
  const said = new TextDecoder().decode((await endpoint.stdout.getReader().read()).value);
  return { endpoint, url: /^listening on (\S+)$/m.exec(said)?.[1] ?? "" };
}

/** Starts the endpoint with one source; `post` delivers to it. */
async function aSource() {
  const admin = anAdminWithEndpoint();
  await admin.run("pixel", "create", "acme", "--id", "px_shop");
  const { id, token } = (await admin.run("source", "create", "acme", "--pixel", "px_shop", "--json")).json;
  const { url } = await opened(admin);
  const post = (visit: unknown) => fetch(`${url}/in/${token}`, { method: "POST", body: JSON.stringify(visit) });
  return { admin, post, folder: join(`${admin.file}.spool`, id) };
}

test("a source is shown once, listed without its token, and revoked forever", async () => {
  const admin = anAdminWithEndpoint();
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
});

test.each([
  [["--pixel", "px_none"], "px_none"],
  [["--timezone", "Mars"], "Mars"],
  [["--map", "x"], "--map"],
])("source create %j is rejected before anything is created", async (options, named) => {
  const admin = anAdminWithEndpoint();
  const { status, stderr } = await admin.run("source", "create", "acme", ...options);
  expect([status > 0, stderr]).toEqual([true, expect.stringContaining(named)]);
  expect((await admin.run("source", "list", "acme", "--json")).stdout).toBe("[]\n");
});

test.each([
  ["SIGTERM", 0],
  ["SIGHUP", 129],
] as const)("an endpoint with nothing under way ends at %s, long before its next import", async (signal, status) => {
  const { endpoint } = await opened(anAdminWithEndpoint(), 3600);
  endpoint.kill(signal);
  expect(await endpoint.exited).toBe(status);
});

test("two visits that differ only in an unreadable time are two leads", async () => {
  const { admin, post } = await aSource();
  const seenAt = (minute: number) => `2024-01-01T12:0${minute}:56:00.00+00.00`;
  const visits = [1, 2, 1].map((minute) => ({ "Business Email": "dana@example.com", "Seen At": seenAt(minute) }));
  expect((await post(visits)).status).toBe(200);
  await eventually(async () => expect(await admin.leads()).toHaveLength(2));
});

test("an unreadable delivery is rejected alone, and the others are served", async () => {
  const { admin, post } = await aSource();
  const people = { u1: { email: "dana@example.com" }, u2: { email: "lee@example.com" } };
  const deep = { email: "kim@example.com", more: JSON.parse("[".repeat(2000) + "]".repeat(2000)) };
  const answers = await Promise.all([post(people), post(deep), post({ email: "sam@example.com" })]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const served = ["kim@example.com", "sam@example.com"];
  await eventually(async () => expect((await admin.leads()).map(({ email }) => email).toSorted()).toEqual(served));
});

test("deliveries of many shapes are served, except one with more than 2,000 names", async () => {
  const { admin, post, folder } = await aSource();
  const form = (person: string, names: number) =>
    Object.fromEntries([
      ...Array.from({ length: names - 1 }, (_, n) => [`${person} ${n}`, "x"]),
      ["email", `${person}@example.com`],
    ]);
  const visits = [form("dana", 1999), form("lee", 2000), form("kim", 2001), form("sam", 900)];
  expect((await post(visits)).status).toBe(200);
  await eventually(async () =>
    expect((await admin.leads()).map(({ email }) => email)).toEqual(
      ["dana", "lee", "sam"].map((person) => `${person}@example.com`),
    ),
  );
  const rejected = join(folder, "rejected");
  await eventually(async () => expect(readdirSync(rejected)).toHaveLength(1));
  const [file = ""] = readdirSync(rejected);
  expect(JSON.parse(readFileSync(join(rejected, file), "utf8"))).toMatchObject({
    reject_line: 3,
    reject_reason: "it has more than 2,000 names",
  });
});

test("rejects a second endpoint on the same file", async () => {
  const admin = anAdminWithEndpoint();
  await opened(admin);
  const second = await admin.run("receive");
  expect([second.status, second.stderr]).toEqual([1, expect.stringContaining("Another process receives deliveries")]);
});

test("a used port and a foreign host are rejected with the setting to change", async () => {
  const { url } = await opened(anAdminWithEndpoint());
  const { port } = new URL(url);
  const onTaken = await anAdmin(["acme"], { RECEIVE_PORT: port }).run("receive");
  expect([onTaken.status, onTaken.stderr]).toEqual([1, expect.stringMatching(/^Port \d+ .*RECEIVE_PORT[^\n]*\n$/)]);
  const elsewhere = await anAdmin(["acme"], { RECEIVE_HOST: "nosuch.invalid", TRUST_PROXY: "1" }).run("receive");
  expect([elsewhere.status, elsewhere.stderr]).toEqual([2, expect.stringMatching(/^RECEIVE_HOST is [^\n]*\n$/)]);
});
