/** A clock that is wrong must not make retention erase what it should keep. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { recordAct } from "../../src/db/audit.ts";
import type { Connection } from "../../src/db/connection.ts";
import { openDatabase } from "../../src/db/open.ts";
import { waitUntil, wasSetBack } from "../../src/privacy/retention-hold.ts";
import { noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";

const act = { act: "key.create", account: null, detail: {} } as const;
let database: Connection;

beforeEach(() => {
  database = openDatabase(join(aFolder(), "leadfile.db"));
  recordAct(database, { ...act, atMs: noonMs });
});
afterEach(() => database.$client.close());

test("a clock that is near to what was last written is trusted, earlier or later", () => {
  for (const days of [-400, 0, 7]) expect(waitUntil(database, noonMs + days * dayMs, false)).toBeNull();
});

test("a clock that is more than a week ahead is trusted after a day, whatever is written meanwhile", () => {
  const ahead = noonMs + 400 * dayMs;
  expect(waitUntil(database, ahead, false)).toBe(ahead + dayMs);
  recordAct(database, { ...act, atMs: ahead + 1 });
  expect(waitUntil(database, ahead + dayMs - 1, false)).toBe(ahead + dayMs);
  expect(waitUntil(database, ahead + dayMs, false)).toBeNull();
});

test("a clock that jumps under a running server is trusted after a day, though requests were counted under it", () => {
  const ahead = noonMs + 400 * dayMs;
  recordAct(database, { ...act, atMs: ahead });
  expect(waitUntil(database, ahead, true)).toBe(ahead + dayMs);
  expect(waitUntil(database, ahead + 1, false)).toBe(ahead + dayMs);
});

test("a clock that was set right again is trusted at once", () => {
  expect(waitUntil(database, noonMs + 400 * dayMs, false)).not.toBeNull();
  expect(waitUntil(database, noonMs + 1, false)).toBeNull();
});

test("a wrong clock that comes back is not trusted for what was written under it", () => {
  const ahead = noonMs + 400 * dayMs;
  waitUntil(database, ahead, false);
  recordAct(database, { ...act, atMs: ahead + 1 });
  expect(wasSetBack(database, ahead + 2)).toBe(false);
  expect(wasSetBack(database, noonMs + 1)).toBe(true);
  expect(waitUntil(database, noonMs + 1, false)).toBeNull();
  expect(wasSetBack(database, noonMs + 1)).toBe(false);
  expect(waitUntil(database, ahead + 2 * dayMs, false)).toBe(ahead + 3 * dayMs);
});

test("what a command wrote under a wrong clock makes no server trust that clock", () => {
  const ahead = noonMs + 400 * dayMs;
  recordAct(database, { ...act, atMs: ahead });
  expect(waitUntil(database, ahead + 1, false)).toBe(ahead + 1 + dayMs);
});

test("days with requests show that the clock is right where nothing else was written, up to a gap", () => {
  database.run(sql`INSERT INTO accounts (number, id, name, active, created_at) VALUES (1, 'a', 'a', 1, 0)`);
  database.run(
    sql`INSERT INTO keys (number, account, id, digest, prefix, created_at) VALUES (1, 1, 'k', x'00', '', 0)`,
  );
  const use = (days: number) =>
    database.run(sql`INSERT INTO usage (key, day, requests) VALUES (1, ${dayOf(noonMs + days * dayMs)}, 1)`);
  for (const days of [5, 12, 19, 300]) use(days);
  expect(waitUntil(database, noonMs + 25 * dayMs, false)).toBeNull();
  expect(waitUntil(database, noonMs + 301 * dayMs, false)).not.toBeNull();
});
