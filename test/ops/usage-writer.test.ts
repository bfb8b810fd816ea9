/** Usage reaches the file within a second. The timers are simulated, the store is real. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, jest, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { pino } from "pino";
import { openServedStore } from "../../src/server/store.ts";
import { startUsageWriter } from "../../src/server/usage-writer.ts";
import { noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { keyIn, requestsIn } from "./running.ts";

beforeEach(() => void jest.useFakeTimers({ now: noonMs }));
afterEach(() => void jest.useRealTimers());

/** Opens a store, and starts to write its usage. */
function writing(log = pino({ enabled: false })) {
  const file = join(aFolder(), "leadfile.db");
  keyIn(file);
  const store = openServedStore(file);
  const stop = startUsageWriter(store, log);
  onTestFinished(() => {
    stop();
    store.close();
  });
  return { file, count: () => store.usage.count(1, Date.now()) };
}

test.each([0, 1, 250, 499, 500, 999])(
  "a request counted %i ms after the start is in the file a second later",
  (afterMs) => {
    const { file, count } = writing();
    jest.advanceTimersByTime(afterMs);
    count();
    expect(requestsIn(file)).toBe(0);
    jest.advanceTimersByTime(1000);
    expect(requestsIn(file)).toBe(1);
  },
);

test("a request counted while another program writes is in the file 10 ms after that has ended", () => {
  const { file, count } = writing();
  using other = new Database(file);
  other.run("BEGIN IMMEDIATE");
  count();
  jest.advanceTimersByTime(5_000);
  expect(requestsIn(file)).toBe(0);
  other.run("COMMIT");
  jest.advanceTimersByTime(10);
  expect(requestsIn(file)).toBe(1);
});

test("usage that cannot be written is logged once a minute, and kept", () => {
  const said: string[] = [];
  const { file, count } = writing(pino({}, { write: (line) => said.push(line) }));
  using other = new Database(file);
  other.run("ALTER TABLE usage RENAME TO gone");
  count();
  jest.advanceTimersByTime(59_000);
  // The error of SQLite, without the statement.
  const cause =
    /"cause":"SQLiteError: no such table: usage","msg":"usage could not be written; it is kept in memory and/;
  expect(said).toEqual([expect.stringMatching(cause)]);
  jest.advanceTimersByTime(5_000);
  expect(said).toHaveLength(2);
  other.run("ALTER TABLE gone RENAME TO usage");
  jest.advanceTimersByTime(1_000);
  expect(requestsIn(file)).toBe(1);
});

test("a slow disk is asked to sync once at a time", () => {
  const file = join(aFolder(), "leadfile.db");
  keyIn(file);
  const store = openServedStore(file);
  let syncs = 0;
  const fsync = () => {
    syncs += 1;
    return new Promise<void>(() => {});
  };
  const stop = startUsageWriter({ ...store, fsync }, pino({ enabled: false }));
  for (let second = 0; second < 5; second++) {
    store.usage.count(1, Date.now());
    jest.advanceTimersByTime(1_000);
  }
  expect([syncs, requestsIn(file)]).toEqual([1, 5]);
  stop();
  store.close();
});
