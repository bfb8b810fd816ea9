/** §4.3: what a key has used. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";

type Server = Awaited<ReturnType<typeof serve>>;

const countsOf = async ({ as }: Server, key: string) => {
  const { body } = await as(key).get("/usage");
  return [body.requests_today, body.requests_this_month];
};

test("each key has its own counts, within one account too", async () => {
  const server = await serve();
  const [one, other] = [server.aKey(), server.aKey()];
  await server.as(one).get("/leads");
  expect(await countsOf(server, other)).toEqual([1, 1]);
  expect(await countsOf(server, one)).toEqual([2, 2]);
});

test.each([
  ["a day later in the same month", "2026-02-27T23:59:59.999Z", "2026-02-28T00:00:00.000Z", [1, 2]],
  ["the last millisecond of the same day", "2026-02-01T00:00:00.000Z", "2026-02-01T23:59:59.999Z", [2, 2]],
  ["the first millisecond of the next day", "2026-02-01T23:59:59.999Z", "2026-02-02T00:00:00.000Z", [1, 2]],
  ["the first millisecond of the next month", "2026-02-28T23:59:59.999Z", "2026-03-01T00:00:00.000Z", [1, 1]],
  ["the same month of the next year", "2026-02-01T12:00:00.000Z", "2027-02-01T12:00:00.000Z", [1, 1]],
  ["the leap day", "2028-02-29T23:59:59.999Z", "2028-03-01T00:00:00.000Z", [1, 1]],
])("days and months are those of UTC: %s", async (_, first, second, expected) => {
  const server = await serve({ nowMs: Date.parse(first) });
  const key = server.aKey();
  await server.as(key).get("/leads");
  server.clock.nowMs = Date.parse(second);
  expect(await countsOf(server, key)).toEqual(expected);
});

test("usage counts what is written to the file and what is still in memory", async () => {
  const server = await serve();
  const key = server.aKey();
  await server.as(key).get("/leads");
  expect(server.store.flush()).toBe("done");
  await server.as(key).get("/leads");
  expect(await countsOf(server, key)).toEqual([3, 3]);
  expect(server.store.flush()).toBe("done");
  expect(server.store.flush()).toBe("idle");
  expect(await countsOf(server, key)).toEqual([4, 4]);
});

test("usage survives a restart", async () => {
  const file = join(aFolder(), "leadfile.db");
  const first = await serve({ file });
  const key = first.aKey();
  expect(await countsOf(first, key)).toEqual([1, 1]);
  await first.stop();
  expect(await countsOf(await serve({ file }), key)).toEqual([2, 2]);
});
