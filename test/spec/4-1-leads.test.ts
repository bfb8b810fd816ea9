/** §4.1: which leads GET /leads returns. What is refused as a parameter is in 4-1-parameters, paging in 4-1-paging. */
import { describe, expect, test } from "bun:test";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

const ids = (leads: readonly { id: string }[]) => leads.map((lead) => lead.id);

/** The IDs of the leads that a server with this content returns, in their order. */
async function returned(content: Parameters<typeof serve>[0], query: string): Promise<string[]> {
  const { as, aKey } = await serve(content);
  const { status, body } = await as(aKey()).get(`/leads?${query}`);
  expect(status).toBe(200);
  return ids(body.data);
}

const at = (time: string) => aLead({ identified_at: `2026-01-31T09:15:00.${time}Z` });
const [first, second, third] = [at("100"), at("101"), at("102")];
const threeTimes = { leads: [first, second, third] };
type Bound = readonly [bound: string, expected: readonly { id: string }[]];

describe("before and since", () => {
  test("since and before together return the leads between them, including the lower bound", async () => {
    const query = "since=2026-01-31T09:15:00.100Z&before=2026-01-31T09:15:00.102Z";
    expect(await returned(threeTimes, query)).toEqual(ids([second, first]));
  });

  test("a before at or below since gives an empty page and no error", async () => {
    const bound = "2026-01-31T09:15:00.101Z";
    expect(await returned(threeTimes, `before=${bound}&since=${bound}`)).toEqual([]);
    expect(await returned(threeTimes, `before=2020-01-01T00:00:00Z&since=${bound}`)).toEqual([]);
  });
});

describe("a time", () => {
  test.each<Bound>([
    ["before=2026-01-31T09:15:00.1011Z", [second, first]],
    ["before=2026-01-31T09:15:00.1010Z", [first]],
    ["before=2026-01-31T09:15:00.1000000000000000000000001Z", [first]],
    ["before=9999-12-31T23:59:59.9999Z", [third, second, first]],
    ["since=2026-01-31T09:15:00.1001Z", [third, second]],
    ["since=2026-01-31T09:15:00.1000Z", [third, second, first]],
  ])("with more than three decimals is rounded up to the millisecond: %s", async (query, expected) => {
    expect(await returned(threeTimes, query)).toEqual(ids(expected));
  });

  test.each<Bound>([
    ["since=2026-01-31t09:15:00.102z", [third]],
    ["since=2026-01-31T10:15:00.102%2B01:00", [third]],
    ["since=2026-01-31T03:45:00.102-05:30", [third]],
    // Python's %z writes an offset without its colon.
    ["since=2026-01-31T10:15:00.102%2B0100", [third]],
    ["before=2026-01-31T04:15:00.101-0500", [first]],
    ["since=2026-01-31T10:15:00.102+01:00", [third]],
    ["before=2026-01-31T10:15:00.101+0100", [first]],
  ])(
    "is RFC 3339, with T and Z in either case, an offset with or without a colon, and its + encoded or not: %s",
    async (query, expected) => {
      expect(await returned(threeTimes, query)).toEqual(ids(expected));
    },
  );
});

const california = aLead({ state: "CA", city: "San José", email: null, pixel_id: "px_a" });
const nevada = aLead({ state: "NV", city: "Reno", pixel_id: "px_b" });
const nowhere = aLead({ state: null, city: null, email: null, verified_email: "v@example.com", pixel_id: "px_b" });
const threePlaces = { leads: [california, nevada, nowhere] };

describe("the filters of the place", () => {
  test.each([
    ["CA", california],
    ["ca", california],
    ["nV", nevada],
  ])("state=%s matches in any case", async (state, lead) => {
    expect(await returned(threePlaces, `state=${state}`)).toEqual([lead.id]);
  });

  test.each([
    ["Reno", nevada],
    ["RENO", nevada],
    ["%20reno+", nevada],
    ["San%20Jos%C3%A9", california],
    ["SAN+JOSE%CC%81", california],
  ])("city=%s matches in any case, in any Unicode form, and without the spaces around it", async (city, lead) => {
    expect(await returned(threePlaces, `city=${city}`)).toEqual([lead.id]);
  });

  test.each(["San+Jose", "Ren", "Ren%25", "Ren_"])("city=%s matches no other name: it is no pattern", async (city) => {
    expect(await returned(threePlaces, `city=${city}`)).toEqual([]);
  });

  test.each([
    ["letters", "x".repeat(200)],
    ["emoji", "%F0%9F%A6%8A".repeat(200)],
    ["letters between spaces", `+++${"x".repeat(200)}%20`],
  ])("a city may have 200 characters: %s", async (_, city) => {
    expect(await returned(threePlaces, `city=${city}`)).toEqual([]);
  });
});

describe("the other filters", () => {
  test.each([
    ["pixel_id=px_b&has_email=true", [nevada]],
    ["pixel_id=px_a&state=NV", []],
    ["state=NV&city=reno&pixel_id=px_b&has_email=true&limit=1", [nevada]],
  ])("several filters return only leads that match all of them: %s", async (query, expected) => {
    expect(await returned(threePlaces, query)).toEqual(ids(expected));
  });

  test("the name of a parameter may be percent-encoded", async () => {
    expect(await returned(threePlaces, "%73tate=CA")).toEqual([california.id]);
  });

  test.each(["PX_A", "px_a%20", "%20px_a", "px", "%25"])("pixel_id is compared exactly: %s is not px_a", async (id) => {
    const { as, aKey } = await serve(threePlaces);
    const { status, body } = await as(aKey()).get(`/leads?pixel_id=${id}`);
    expect([status, body.error.code]).toEqual([404, "unknown_pixel"]);
  });

  test("a pixel of another account is answered with unknown_pixel, like one that does not exist", async () => {
    const { as, aKey, anAccount } = await serve();
    anAccount({ pixels: [{ id: "px_theirs", status: "active" }] });
    const client = as(aKey());
    const theirs = await client.get("/leads?pixel_id=px_theirs");
    expect([theirs.status, theirs.body.error.code]).toEqual([404, "unknown_pixel"]);
    expect((await client.get("/leads?pixel_id=px_nobodys")).text).toBe(theirs.text);
  });
});
