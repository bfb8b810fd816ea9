/** A clock that is wrong must not make retention erase what it should keep. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { recordAct } from "../../src/db/audit.ts";
import type { Connection, LeadDatabase } from "../../src/db/connection.ts";
import { openFileDatabase } from "../../src/db/open.ts";
import { waitUntil, wasSetBack } from "../../src/privacy/retention-hold.ts";
import { noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";

const act = { act: "key.create", account: null, detail: {} } as const;
let opened: LeadDatabase;
let database: Connection;
const waits = (nowMs: number, hasJumped: boolean) => waitUntil(opened, nowMs, hasJumped);

beforeEach(() => {
  opened = openFileDatabase(join(aFolder(), "leadfile.db"));
  database = opened.read;
  recordAct(database, { ...act, atMs: noonMs });
});
afterEach(() => database.$client.close());

test("a clock that is near to what was last written is trusted, earlier or later", async () => {
  for (const days of [-400, 0, 7]) expect(await waits(noonMs + days * dayMs, false)).toBeNull();
});

test("a clock that is more than a week ahead is trusted after a day, whatever is written meanwhile", async () => {
  const ahead = noonMs + 400 * dayMs;
  expect(await waits(ahead, false)).toBe(ahead + dayMs);
  recordAct(database, { ...act, atMs: ahead + 1 });
  expect(await waits(ahead + dayMs - 1, false)).toBe(ahead + dayMs);
  expect(await waits(ahead + dayMs, false)).toBeNull();
});

test("a clock that jumps under a running server is trusted after a day, though requests were counted under it", async () => {
  const ahead = noonMs + 400 * dayMs;
  recordAct(database, { ...act, atMs: ahead });
  expect(await waits(ahead, true)).toBe(ahead + dayMs);
  expect(await waits(ahead + 1, false)).toBe(ahead + dayMs);
});

test("a clock that was set right again is trusted at once", async () => {
  expect(await waits(noonMs + 400 * dayMs, false)).not.toBeNull();
  expect(await waits(noonMs + 1, false)).toBeNull();
});

test("a wrong clock that comes back is not trusted for what was written under it", async () => {
  const ahead = noonMs + 400 * dayMs;
  await waits(ahead, false);
  recordAct(database, { ...act, atMs: ahead + 1 });
  expect(wasSetBack(database, ahead + 2)).toBe(false);
  expect(wasSetBack(database, noonMs + 1)).toBe(true);
  expect(await waits(noonMs + 1, false)).toBeNull();
  expect(wasSetBack(database, noonMs + 1)).toBe(false);
  expect(await waits(ahead + 2 * dayMs, false)).toBe(ahead + 3 * dayMs);
});

test("what a command wrote under a wrong clock makes no server trust that clock", async () => {
  const ahead = noonMs + 400 * dayMs;
  recordAct(database, { ...act, atMs: ahead });
  expect(await waits(ahead + 1, false)).toBe(ahead + 1 + dayMs);
});

test("days with requests show that the clock is right where nothing else was written, up to a gap", async () => {
  database.run(sql`INSERT INTO accounts (number, id, name, active, created_at) VALUES (1, 'a', 'a', 1, 0)`);
  database.run(
    sql`INSERT INTO keys (number, account, id, digest, prefix, created_at) VALUES (1, 1, 'k', x'00', '', 0)`,
  );
  const use = (days: number) =>
    database.run(sql`INSERT INTO usage (key, day, requests) VALUES (1, ${dayOf(noonMs + days * dayMs)}, 1)`);
  for (const days of [5, 12, 19, 300]) use(days);
  expect(await waits(noonMs + 25 * dayMs, false)).toBeNull();
  expect(await waits(noonMs + 301 * dayMs, false)).not.toBeNull();
});
