/** §8: sixty requests per key and UTC clock minute, and the headers that say how many are left. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLimiter } from "../../src/api/limiter.ts";
import { revokeKey } from "../../src/db/keys.ts";
import { noonMs } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

test("a key that is revoked after it used up its limit answers that it was revoked", async () => {
  const { as, aKeyRecord, database } = await serve({ limit: 1 });
  const { secret, id } = aKeyRecord();
  await as(secret).get("/leads");
  await revokeKey(database, id, noonMs);
  expect((await as(secret).get("/leads")).body.error.code).toBe("revoked_api_key");
});

test("each key has its own limit in each minute of the UTC clock, and X-RateLimit-Remaining counts down to 0", async () => {
  const limit = 3;
  const { as, aKey, clock } = await serve({ limit });
  const clients = [as(aKey()), as(aKey())];
  const step = fc.record({ who: fc.nat({ max: 1 }), waitMs: fc.constantFrom(0, 1, 20_000, 59_999, 60_000, 600_000) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      clock.nowMs += 3_600_000;
      const used = new Map<string, number>();
      for (const { who, waitMs } of steps) {
        clock.nowMs += waitMs;
        const window = `${who} ${Math.floor(clock.nowMs / 60_000)}`;
        const before = used.get(window) ?? 0;
        const answer = await clients[who]?.get("/leads");
        expect(answer?.status).toBe(before < limit ? 200 : 429);
        expect(answer?.headers.get("x-ratelimit-remaining")).toBe(String(Math.max(0, limit - before - 1)));
        used.set(window, Math.min(limit, before + 1));
      }
    }),
    { numRuns: 60 },
  );
});

test("setting the clock gives no key a second window, and blocks no key for more than a minute", () => {
  const limit = 60;
  // From the corrections of a time server to a clock that was a day wrong.
  const maxJumpMs = fc.constantFrom(500, 5_000, 60_000, 600_000, 86_400_000);
  const jumpMs = maxJumpMs.chain((ms) => fc.integer({ min: -ms, max: ms }));
  const step = fc.record({
    passedMs: fc.nat({ max: 20_000 }),
    setByMs: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: jumpMs }),
    requests: fc.integer({ min: 1, max: 40 }),
  });
  const isFair = fc.property(fc.array(step, { minLength: 1, maxLength: 100 }), (steps) => {
    const limiter = createLimiter(limit);
    const time = { clockMs: noonMs, elapsedMs: 0 };
    const window = { minute: 0, startedMs: 0, allowed: 0 };
    for (const { passedMs, setByMs, requests } of steps) {
      time.elapsedMs += passedMs;
      time.clockMs += passedMs + setByMs;
      const minute = Math.floor(time.clockMs / 60_000);
      // A later minute begins a window, and so does a minute that has really passed since the start of the last one.
      if (minute > window.minute || time.elapsedMs - window.startedMs >= 60_000) {
        const startedMs = time.elapsedMs - (time.clockMs - minute * 60_000);
        Object.assign(window, { minute, startedMs, allowed: 0 });
      }
      for (let request = 0; request < requests; request++) {
        expect(limiter.hit(1, time.clockMs, time.elapsedMs).allowed).toBe(window.allowed++ < limit);
      }
    }
  });
  fc.assert(isFair, { numRuns: 200 });
});
