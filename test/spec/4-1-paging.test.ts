/** §4.1 rules 1 and 2: walking the pages meets every lead exactly once, and polling misses none. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Lead } from "../../src/contract/lead.ts";
import { aLead } from "../support/builders.ts";
import { type Client, serve } from "../support/harness.ts";

/** All leads that a client meets who follows next_cursor to the end. */
async function walk(client: Client, query: string, betweenPages: () => void = () => {}): Promise<Lead[]> {
  const met: Lead[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const before: string = cursor === "" ? "" : `&before=${cursor}`;
    const { status, body } = await client.get(`/leads?${query}${before}`);
    expect(status).toBe(200);
    expect(body.has_more).toBe(body.next_cursor !== null);
    met.push(...body.data);
    cursor = body.next_cursor;
    betweenPages();
  }
  return met;
}

const ids = (leads: readonly Lead[]) => leads.map((lead) => lead.id).toSorted();

const filters = fc.record(
  {
    pixel_id: fc.constantFrom("px_a", "px_b"),
    state: fc.constantFrom("CA", "NV", "TX"),
    city: fc.constantFrom("Reno", "austin"),
    has_email: fc.constantFrom("true", "false"),
    since: fc.constantFrom("2026-01-31T09:15:00.000Z", "2026-01-31T09:15:01.000Z", "2020-01-01T00:00:00.000Z"),
  },
  { requiredKeys: [] },
);
type Filters = { [Name in "pixel_id" | "state" | "city" | "has_email" | "since"]?: string | undefined };

function matches(lead: Lead, { pixel_id, state, city, has_email, since }: Filters): boolean {
  return (
    (pixel_id === undefined || lead.pixel_id === pixel_id) &&
    (state === undefined || lead.state === state) &&
    (city === undefined || lead.city?.toLowerCase() === city.toLowerCase()) &&
    (has_email !== "true" || lead.email !== null) &&
    (since === undefined || lead.identified_at >= since)
  );
}

/** Leads of a source that stamps by the second, so that most of them tie. */
const tiedLead = fc
  .record({
    identified_at: fc.constantFrom("2026-01-31T09:15:00.000Z", "2026-01-31T09:15:01.000Z"),
    pixel_id: fc.constantFrom("px_a", "px_b"),
    state: fc.constantFrom("CA", "NV", null),
    city: fc.constantFrom("Reno", "Austin", null),
    email: fc.constantFrom("a@example.com", null),
  })
  .map((over) => ({ over }));

const pixels = ["px_a", "px_b"].map((id) => ({ id, status: "active" }));

test("paging returns every lead exactly once, newest first, whatever the ties, limit, filters, and newer imports", async () => {
  const { as, anAccount, aKey, importMore } = await serve();
  const limit = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100 }));
  await fc.assert(
    fc.asyncProperty(fc.array(tiedLead, { maxLength: 40 }), filters, limit, async (built, chosen, size) => {
      const account = anAccount({ pixels });
      importMore(
        built.map(({ over }) => aLead(over)),
        account,
      );
      const client = as(aKey(account));
      const stored = await walk(client, "limit=100");
      expect(stored).toHaveLength(built.length);
      const query = new URLSearchParams({ limit: String(size), ...chosen });
      const newer = () => importMore([aLead({ identified_at: "2026-01-31T10:00:00.000Z", pixel_id: "px_a" })], account);
      const met = await walk(client, query.toString(), newer);
      expect(ids(met)).toEqual(ids(stored.filter((lead) => matches(lead, chosen))));
      expect(met.map((lead) => lead.identified_at)).toEqual(
        met
          .map((lead) => lead.identified_at)
          .toSorted()
          .reverse(),
      );
    }),
    { numRuns: 60 },
  );
});
