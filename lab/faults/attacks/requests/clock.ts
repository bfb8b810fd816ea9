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
  /** Requests let pass in this minute of the clock. */
  allowed: number;
  /** Since when it is refused, in time that really went by. */
  refusedSinceMs: number | null;
}

/** Time as it really goes by, and as a clock shows it that is set now and then. */
interface Time {
  clockMs: number;
  elapsedMs: number;
  jumps: number;
  /** The elapsed time at which the clock was last set back. */
  setBackMs: number;
  /** True if the window is the minute of the clock. */
  steady: boolean;
}

async function run({ build, times, random, goesOn, progress, expect }: Attack): Promise<Figures> {
  const product: { createLimiter: typeof createLimiter } = await import(join(build, "src/limiter.ts"));
  const limiter = product.createLimiter(limit);
  const ledgers = Array.from({ length: 3 }, (): Ledger => ({ allowed: 0, refusedSinceMs: null }));
  const time: Time = {
    clockMs: Date.parse("2026-02-01T00:00:00Z"),
    elapsedMs: 0,
    jumps: 0,
    setBackMs: Number.NEGATIVE_INFINITY,
    steady: true,
  };
  while (time.elapsedMs < times * minuteMs && goesOn()) {
    if (pass(time, random)) for (const ledger of ledgers) ledger.allowed = 0;
    for (const [key, ledger] of ledgers.entries()) {
      const asks = random.below(key === 0 ? 90 : 12);
      const hit = () => limiter.hit(key, time.clockMs, time.elapsedMs).allowed;
      for (let ask = 0; ask < asks; ask++) record(ledger, hit(), time, expect);
    }
    progress(Math.min(times, Math.floor(time.elapsedMs / minuteMs)));
  }
  tremble(product.createLimiter(limit), expect);
  return { "jumps of the clock": time.jumps };
}

/** Lets time pass, and now and then sets the clock; whether another minute has begun. */
function pass(time: Time, random: Random): boolean {
  const before = Math.floor(time.clockMs / minuteMs);
  const stepMs = random.below(random.pick([50, 2000, 20_000]));
  time.elapsedMs += stepMs;
  time.clockMs += stepMs;
  if (random.below(40) === 0) {
    const jump = jumpMs(random);
    time.clockMs += jump;
    time.jumps++;
    if (jump < 0) time.setBackMs = time.elapsedMs;
  }
  const another = Math.floor(time.clockMs / minuteMs) !== before;
  // What was left of a window when the clock was set back ends somewhere in the minute that it was set to.
  if (time.elapsedMs - time.setBackMs < minuteMs) time.steady = false;
  else if (another) time.steady = true;
  return another;
}

/** From the corrections of a time server to a clock that was a day wrong. */
function jumpMs(random: Random): number {
  const most = random.pick([500, 5000, minuteMs, 10 * minuteMs, 1440 * minuteMs]);
  return random.below(2 * most + 1) - most;
}

function record(ledger: Ledger, allowed: boolean, { elapsedMs, steady }: Time, expect: Attack["expect"]): void {
  if (!allowed) {
    ledger.refusedSinceMs ??= elapsedMs;
    const waitedMs = elapsedMs - ledger.refusedSinceMs;
    expect(waitedMs < minuteMs, () => `a key was still refused ${waitedMs / 1000} s after its first refusal`);
    return;
  }
  ledger.refusedSinceMs = null;
  ledger.allowed++;
  expect(!steady || ledger.allowed <= limit, () => `${ledger.allowed} requests were let pass in one minute`);
}

/** A clock that trembles over the end of a minute: the two minutes together give two windows, and no more. */
function tremble(limiter: ReturnType<typeof createLimiter>, expect: Attack["expect"]): void {
  const endMs = Date.parse("2026-02-01T12:01:00Z");
  let allowed = 0;
  let elapsedMs = 0;
  for (let turn = 0; turn < 50; turn++) {
    for (const ms of [endMs - 20, endMs + 20]) {
      elapsedMs += 20;
      for (let ask = 0; ask < 100; ask++) if (limiter.hit(1, ms, elapsedMs).allowed) allowed++;
    }
  }
  expect(allowed <= 2 * limit, () => `a clock that trembles over a full minute let ${allowed} requests pass`);
}
