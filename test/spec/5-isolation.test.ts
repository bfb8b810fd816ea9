/** §5: a key inherits the data of its account, and of no other. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

test("no response contains a lead or a pixel of another account", async () => {
  const { as, anAccount, aKey } = await serve();
  // All that could be confused is the same in each account: times, ids, pixel ids, states and cities.
  const shared = Array.from({ length: 12 }, (_, place) =>
    aLead({
      pixel_id: place % 2 === 0 ? "px_even" : "px_odd",
      state: place % 3 === 0 ? "CA" : "NV",
      city: place % 4 === 0 ? "Reno" : null,
      email: place % 5 === 0 ? null : "dana@example.com",
    }),
  );
  const owners = ["one", "two", "three"].map((company) => {
    const own = { id: `px_of_${company}`, status: company };
    const leads = [...shared.map((lead) => ({ ...lead, company })), aLead({ pixel_id: own.id, company })];
    return { company, client: as(aKey(anAccount({ pixels: [own], leads }))) };
  });
  const query = fc.record(
    {
      limit: fc.integer({ min: 1, max: 100 }).map(String),
      before: fc.constantFrom(...shared.map((lead) => lead.identified_at)),
      since: fc.constantFrom(...shared.map((lead) => lead.identified_at)),
      pixel_id: fc.constantFrom("px_even", "px_odd", "px_of_one", "px_of_two", "px_of_three"),
      state: fc.constantFrom("CA", "NV"),
      city: fc.constantFrom("reno", "Austin"),
      has_email: fc.constantFrom("true", "false"),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    // Everybody asks the same: a page that was kept for one account must not be given to the next one.
    fc.asyncProperty(query, async (parameters) => {
      for (const { company, client } of owners) {
        const { status, body, text } = await client.get(`/leads?${new URLSearchParams(parameters)}`);
        const foreign = parameters.pixel_id?.startsWith("px_of_") && parameters.pixel_id !== `px_of_${company}`;
        expect(status).toBe(foreign ? 404 : 200);
        const given = status === 200 ? body.data.map((lead) => lead.company) : [];
        expect(given.filter((other) => other !== company)).toEqual([]);
        const pixels = text.match(/px_of_\w+/g) ?? [];
        expect(pixels.filter((pixel) => pixel !== `px_of_${company}`)).toEqual([]);
      }
    }),
    { numRuns: 100 },
  );
  for (const { company, client } of owners) {
    const { body } = await client.get("/pixels");
    expect(body.data.map((pixel) => pixel.id)).toEqual([`px_of_${company}`, "px_even", "px_odd"]);
    expect((await client.get("/leads?limit=100")).body.data).toHaveLength(13);
  }
});
