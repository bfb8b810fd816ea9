/** The cache of pages: bounded in memory, and never older than the database. */
import { expect, test } from "bun:test";
import { createPageCache } from "../../src/api/page-cache.ts";

const aPage = (bytes: number) => ({ body: new Blob([new Uint8Array(bytes)]), numbers: [], newestMs: null });

test("reads a page once until the database changes, and then again", () => {
  const cached = createPageCache();
  let reads = 0;
  const readsAfter = [1, 1, 2, 2, 1].map((version) => {
    cached("1 limit=25", version, () => ({ ...aPage(2), newestMs: ++reads }));
    return reads;
  });
  expect(readsAfter).toEqual([1, 1, 2, 2, 3]);
});

test.each<[string, number, (place: number) => string]>([
  ["large pages", 1024 * 1024, (place) => `1 limit=${place}`],
  ["pages without leads", 64, (place) => `1 city=${"x".repeat(150)}${place}`],
  ["very long requests", 64, (place) => `1 ${"&".repeat(8000)}limit=${place}`],
])("keeps at most 20 MB of %s, and one more", (_, bytes, nameOf) => {
  const cached = createPageCache();
  const entryBytes = bytes + nameOf(0).length;
  const names = Array.from({ length: Math.ceil(50_000_000 / entryBytes) }, (_, place) => nameOf(place));
  for (const name of names) cached(name, 1, () => aPage(bytes));
  const kept = names.filter((name) => isKept(cached, name)).length;
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThanOrEqual((20 * 1024 * 1024) / entryBytes + 1);
});

/** Looks for a page without leaving one. */
function isKept(cached: ReturnType<typeof createPageCache>, name: string): boolean {
  try {
    cached(name, 1, () => {
      throw new Error("not kept");
    });
    return true;
  } catch {
    // The page would have to be read.
    return false;
  }
}
