/** A clock that is wrong must not make retention erase what it should keep. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { dayMs } from "../../src/contract/time.ts";
import { recordAct } from "../../src/sqlite/audit.ts";
import type { Connection } from "../../src/sqlite/connection.ts";
import { openDatabase } from "../../src/sqlite/open.ts";
import { waitUntil } from "../../src/sqlite/privacy/retention-hold.ts";
import { noonMs } from "../builders.ts";
import { aFolder } from "../folder.ts";

const act = { act: "key.create", account: null, detail: {} };
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
