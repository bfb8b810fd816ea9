/** §4.1 rule 3, for queries that nobody thought of: never a failure, and never a parameter that is silently ignored. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { LeadParameters } from "../../src/contract/parameters.ts";
import { someLeads } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

test("answers any query with 200, 400, or 404, and ignores no parameter", async () => {
  const leads = someLeads(3);
  const { as, aKey } = await serve({ leads });
  const client = as(aKey());
  const name = fc.oneof(fc.constantFrom(...Object.keys(LeadParameters.properties)), fc.string({ unit: "binary" }));
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("true", "CA", "5", "100", "2026-01-31T09:15:00Z", "px_site", "San Diego"),
  );
  const pair = fc.oneof(
    fc.tuple(name, value).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
    fc.string().map((text) => text.replaceAll(/[#\s]/g, "")),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { minLength: 1, maxLength: 4 }), async (pairs) => {
      const query = pairs.join("&");
      const { status, body } = await client.get(`/leads?${query}`);
      expect([200, 400, 404]).toContain(status);
      if (status === 404) expect(body.error.code).toBe("unknown_pixel");
      if (status !== 200) return;
      const sent = query.split("&").filter((pair) => pair !== "");
      const names = sent.map((pair) => decodeURIComponent(pair.split("=")[0] ?? ""));
      expect(names.filter((name) => !Object.hasOwn(LeadParameters.properties, name))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
    }),
    { numRuns: 400 },
  );
});

test("accepts a number as limit exactly if it is written 1 to 100", async () => {
  const { as, aKey } = await serve({ leads: someLeads(101) });
  const client = as(aKey());
  const digits = fc.oneof(
    fc.integer({ min: -5, max: 300 }).map(String),
    fc.string({ unit: fc.constantFrom(..."0123456789") }),
  );
  await fc.assert(
    fc.asyncProperty(digits, async (text) => {
      const { status, body } = await client.get(`/leads?limit=${text}`);
      const right = /^([1-9]|[1-9]\d|100)$/.test(text);
      expect(status).toBe(right ? 200 : 400);
      if (right) expect(body.data).toHaveLength(Number(text));
    }),
    { numRuns: 150 },
  );
});
