/** The limiter under a clock that is set forth and back: nobody gains a window by it, and nobody is locked out. */
import { join } from "node:path";
import type { createLimiter } from "../../../../src/limiter.ts";
import type { Random } from "../../../random.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";

const limit = 60;
const minuteMs = 60_000;

export const clock: Fault = {
  name: "a clock that jumps",
  attack: "the clock of the limiter goes on, jumps forth or back by up to a day while keys ask; windows",
  promise: "never more than 60 in a window, and a minute after a refusal the key is served",
  small: 1000,
  full: 100_000,
  breakages: [
    broken(
      "a window that lasts until the clock is back where it was",
      "src/limiter.ts",
      "minuteNow > minute || elapsedMs - startedMs >= windowMs",
      "minuteNow > minute",
    ),
    broken(
      "a window that begins anew whenever the minute is another",
      "src/limiter.ts",
      "minuteNow > minute ||",
      "minuteNow !== minute ||",
    ),
  ],
  run,
};

/** The requests of one key. */
interface Ledger {
  /** Requests let pass in this window. */
  allowed: number;
  /** Since when it is refused, in time that really went by. */
  refusedSinceMs: number | null;
}

/** Time as it really goes by, and as a clock shows it that is set now and then. */
interface Time {
  clockMs: number;
  elapsedMs: number;
  jumps: number;
  /** The clock minute of the window, and the elapsed time at its start. */
  minute: number;
  startedMs: number;
}

async function run({ build, times, random, goesOn, progress, expect }: Attack): Promise<Figures> {
  const product: { createLimiter: typeof createLimiter } = await import(join(build, "src/limiter.ts"));
  const limiter = product.createLimiter(limit);
  const ledgers = Array.from({ length: 3 }, (): Ledger => ({ allowed: 0, refusedSinceMs: null }));
  const clockMs = Date.parse("2026-02-01T00:00:00Z");
  const time: Time = { clockMs, elapsedMs: 0, jumps: 0, minute: 0, startedMs: 0 };
  while (time.elapsedMs < times * minuteMs && goesOn()) {
    if (pass(time, random)) for (const ledger of ledgers) ledger.allowed = 0;
    for (const [key, ledger] of ledgers.entries()) {
      const asks = random.below(key === 0 ? 90 : 12);
      const hit = () => limiter.hit(key, time.clockMs, time.elapsedMs).allowed;
      for (let ask = 0; ask < asks; ask++) record(ledger, hit(), time, expect);
    }
    progress(Math.min(times, Math.floor(time.elapsedMs / minuteMs)));
  }
  return { "jumps of the clock": time.jumps };
}

/** Lets time pass, and now and then sets the clock. Returns true if another window begins. */
function pass(time: Time, random: Random): boolean {
  const stepMs = random.below(random.pick([50, 2000, 20_000]));
  time.elapsedMs += stepMs;
  time.clockMs += stepMs;
  if (random.below(40) === 0) {
    time.clockMs += jumpMs(random);
    time.jumps++;
  }
  const minute = Math.floor(time.clockMs / minuteMs);
  // A later minute begins a window, and so does a minute that has really passed since the start of the last one.
  if (minute <= time.minute && time.elapsedMs - time.startedMs < minuteMs) return false;
  time.minute = minute;
  time.startedMs = time.elapsedMs - (time.clockMs - minute * minuteMs);
  return true;
}

/** From the corrections of a time server to a clock that was a day wrong. */
function jumpMs(random: Random): number {
  const most = random.pick([500, 5000, minuteMs, 10 * minuteMs, 1440 * minuteMs]);
  return random.below(2 * most + 1) - most;
}

function record(ledger: Ledger, allowed: boolean, { elapsedMs }: Time, expect: Attack["expect"]): void {
  if (!allowed) {
    ledger.refusedSinceMs ??= elapsedMs;
    const waitedMs = elapsedMs - ledger.refusedSinceMs;
    expect(waitedMs < minuteMs, () => `a key was still refused ${waitedMs / 1000} s after its first refusal`);
    return;
  }
  ledger.refusedSinceMs = null;
  ledger.allowed++;
  expect(ledger.allowed <= limit, () => `${ledger.allowed} requests were let pass in one window`);
}
