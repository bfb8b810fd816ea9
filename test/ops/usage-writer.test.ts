/** How soon counts of usage are in the file: the timers are the test's, the store is a real one. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, jest, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { pino } from "pino";
import { startUsageWriter } from "../../src/serving/usage-writer.ts";
import { openServedStore } from "../../src/sqlite/served-store.ts";
import { noonMs } from "../builders.ts";
import { aFolder } from "../folder.ts";
import { keyIn, requestsIn } from "./running.ts";

beforeEach(() => void jest.useFakeTimers({ now: noonMs }));
afterEach(() => void jest.useRealTimers());

/** A store whose counts are written from now on. */
function writing() {
  const file = join(aFolder(), "leadfile.db");
  keyIn(file);
  const store = openServedStore(file);
  const stop = startUsageWriter(store, pino({ enabled: false }));
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
