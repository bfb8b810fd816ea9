/** The server's retention through days and failures: the clock and the timers are the test's. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { pino } from "pino";
import type { Retained } from "../../src/privacy/retention.ts";
import { startDailyRetention } from "../../src/server/daily-retention.ts";
import type { ServedStore } from "../../src/server/store.ts";
import { noonMs } from "../support/builders.ts";

const hourMs = 3_600_000;
const done: Retained = { erased: 0, waiting: [] };

beforeEach(() => void jest.useFakeTimers({ now: noonMs }));
afterEach(() => void jest.useRealTimers());

/** Begins to retain with these outcomes, the last of which goes on; gives when it was asked, and what was logged. */
function begin(...outcomes: (Retained | Error)[]) {
  const asked: { hours: number }[] = [];
  const logged: string[] = [];
  const store: Pick<ServedStore, "applyRetention"> = {
    async applyRetention(nowMs) {
      asked.push({ hours: (nowMs - noonMs) / hourMs });
      const outcome = outcomes[Math.min(asked.length, outcomes.length) - 1] ?? done;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
  const log = pino({ base: null }, { write: (line: string) => void logged.push(line) });
  const stop = startDailyRetention(store as ServedStore, log); // It asks for nothing else.
  return { asked, logged, stop };
}

/** Lets hours go by, one after the other. */
async function pass(hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    // What an hour began has ended when the next one comes.
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    jest.advanceTimersByTime(hourMs);
  }
}

test("retention runs at start, and then once per UTC day", async () => {
  const { asked, stop } = begin(done);
  await pass(60);
  // Noon, and the midnights after it.
  expect(asked.map(({ hours }) => Math.floor(hours))).toEqual([0, 12, 36, 60]);
  stop();
  await pass(48);
  expect(asked).toHaveLength(4);
});

test("a run that failed is repeated in an hour and logged", async () => {
  const failed = new Error("the disk is full");
  const { asked, logged, stop } = begin(failed, failed, done);
  await pass(6);
  expect(asked.map(({ hours }) => hours)).toEqual([0, 1, 2]);
  expect(logged.filter((line) => line.includes("the disk is full"))).toHaveLength(2);
  stop();
});

test("an account whose retention waits for a person is logged once a day, with the command to repeat", async () => {
  const waiting = [{ account: "acc_1", days: 90, older: 4, all: 5, doubt: "clock" } as const];
  const { logged, stop } = begin({ erased: 0, waiting });
  await pass(30);
  expect(logged).toHaveLength(2);
  expect(JSON.parse(logged[0] ?? "")).toMatchObject({
    account: "acc_1",
    leads: 4,
    msg: "retention waits for a person; check the clock, then run: bun admin retain acc_1 --days 90",
  });
  stop();
});
