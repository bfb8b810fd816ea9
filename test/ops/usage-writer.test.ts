/** How soon counts of usage are in the file: the timers are the test's, the store is a real one. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, jest, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { pino } from "pino";
import { openServedStore } from "../../src/served-store.ts";
import { startUsageWriter } from "../../src/usage-writer.ts";
import { noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { keyIn, requestsIn } from "./running.ts";

beforeEach(() => void jest.useFakeTimers({ now: noonMs }));
afterEach(() => void jest.useRealTimers());

/** A store whose counts are written from now on. */
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
  "what was counted %i ms after the start is in the file a second later",
  (afterMs) => {
    const { file, count } = writing();
    jest.advanceTimersByTime(afterMs);
    count();
    expect(requestsIn(file)).toBe(0);
    jest.advanceTimersByTime(1000);
    expect(requestsIn(file)).toBe(1);
  },
);

test("what was counted while another program was writing is in the file a moment after that has ended", () => {
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

test("where counts cannot be written for long, the log says so once a minute, and they are kept", () => {
  const said: string[] = [];
  const { file, count } = writing(pino({}, { write: (line) => said.push(line) }));
  using other = new Database(file);
  other.run("ALTER TABLE usage RENAME TO gone");
  count();
  jest.advanceTimersByTime(59_000);
  expect(said).toEqual([expect.stringContaining("usage could not be written; it is kept in memory and tried again")]);
  jest.advanceTimersByTime(5_000);
  expect(said).toHaveLength(2);
  other.run("ALTER TABLE gone RENAME TO usage");
  jest.advanceTimersByTime(1_000);
  expect(requestsIn(file)).toBe(1);
});
