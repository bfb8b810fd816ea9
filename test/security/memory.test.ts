/** The cache of pages: bounded in memory, and never older than the database. */
import { expect, test } from "bun:test";
import { createPageCache } from "../../src/api/leads.ts";

const aPage = (bytes: number) => ({ body: new Uint8Array(bytes), disclosed: null });

/** Returns the number of times that a page is made for three requests. */
function madeFor(question: string): number {
  const cache = createPageCache();
  let made = 0;
  for (let ask = 0; ask < 3; ask++) {
    if (cache.get(question, 1) !== null) continue;
    made++;
    cache.keep(question, aPage(2));
  }
  return made;
}

test("caches a request of ordinary length", () => {
  expect(madeFor("1 limit=25&state=CA&city=San%20Diego&since=2026-01-31T09%3A15%3A00.123Z")).toBe(1);
});

test("does not cache a very long request, because a client could fill the memory", () => {
  expect(madeFor(`1 since=2026-01-31T09:15:00.${"1".repeat(8000)}Z`)).toBe(3);
  expect(madeFor(`1 limit=25${"&".repeat(8000)}`)).toBe(3);
});

test("the cache keeps at most 20 MB of pages", () => {
  const cache = createPageCache();
  const mebibyte = aPage(1024 * 1024);
  const questions = Array.from({ length: 100 }, (_, n) => `1 limit=${n}`);
  cache.get("1", 1);
  for (const question of questions) cache.keep(question, mebibyte);
  const kept = questions.filter((question) => cache.get(question, 1) !== null).length;
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThanOrEqual(20);
});

test("the bound also covers pages without leads", () => {
  const cache = createPageCache();
  const empty = aPage(`{"object":"list","data":[],"has_more":false,"next_cursor":null}`.length);
  const questions = Array.from({ length: 200_000 }, (_, n) => `1 city=${"x".repeat(150)}${n}`);
  cache.get("1", 1);
  for (const question of questions) cache.keep(question, empty);
  const kept = questions.filter((question) => cache.get(question, 1) !== null).length;
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThan(50_000);
});
