/** §4.1: which leads GET /leads returns, and in which order. */
import { describe, expect, test } from "bun:test";
import type { LeadParameter } from "../../src/contract/parameters.ts";
import { aLead, someLeads } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

const ids = (leads: readonly { id: string }[]) => leads.map((lead) => lead.id);

async function asked(leads: Parameters<typeof serve>[0], target: string): Promise<string[]> {
  const { as, aKey } = await serve(leads);
  const { status, body } = await as(aKey()).get(target);
  expect(status).toBe(200);
  return ids(body.data);
}

test("a page has 25 leads unless a limit is given", async () => {
  expect(await asked({ leads: someLeads(26) }, "/leads")).toHaveLength(25);
});

test.each(["1", "2", "25", "99", "100"])("accepts limit=%s and returns that many leads", async (limit) => {
  expect(await asked({ leads: someLeads(101) }, `/leads?limit=${limit}`)).toHaveLength(Number(limit));
});

describe("the bounds of time", () => {
  const at = (time: string) => aLead({ identified_at: `2026-01-31T09:15:00.${time}Z` });
  const [first, second, third] = [at("100"), at("101"), at("102")];
  const leads = [first, second, third];

  test.each([
    ["before", "2026-01-31T09:15:00.101Z", [first]],
    ["before", "2026-01-31T09:15:00.102Z", [second, first]],
    ["before", "2026-01-31T09:15:00.1011Z", [second, first]],
    ["before", "2026-01-31T09:15:00.1010Z", [first]],
    ["before", "2026-01-31T09:15:00.1000000000000000000000001Z", [first]],
    ["since", "2026-01-31T09:15:00.101Z", [third, second]],
    ["since", "2026-01-31T09:15:00.1001Z", [third, second]],
    ["since", "2026-01-31T09:15:00.1000Z", [third, second, first]],
    ["since", "2026-01-31T09:15:00.103Z", []],
    ["since", "2026-01-31T09:15:00Z", [third, second, first]],
    ["since", "2026-01-31t09:15:00.102z", [third]],
    ["since", "2026-01-31T10:15:00.102%2B01:00", [third]],
    ["since", "2026-01-31T10:15:00.102+01:00", [third]],
    ["since", "2026-01-31T03:45:00.102-05:30", [third]],
    // Python's %z writes an offset without its colon.
    ["since", "2026-01-31T10:15:00.102%2B0100", [third]],
    ["before", "2026-01-31T10:15:00.101+0100", [first]],
    ["before", "2026-01-31T04:15:00.101-0500", [first]],
    ["since", "0001-01-01T00:00:00Z", [third, second, first]],
    ["before", "9999-12-31T23:59:59.9999Z", [third, second, first]],
    ["before", "0001-01-01T00:00:00Z", []],
  ])("before is exclusive, since is inclusive, both round up: %s=%s", async (name, bound, expected) => {
    expect(await asked({ leads }, `/leads?${name}=${bound}`)).toEqual(ids(expected));
  });

  test("a before at or below since gives an empty page", async () => {
    const bound = "2026-01-31T09:15:00.101Z";
    expect(await asked({ leads }, `/leads?before=${bound}&since=${bound}`)).toEqual([]);
    expect(await asked({ leads }, `/leads?before=2020-01-01T00:00:00Z&since=${bound}`)).toEqual([]);
  });

  test.each(["", `&pixel_id=${first.pixel_id}`, `&state=${first.state}`, `&city=${first.city}`, "&has_email=true"])(
    "since and before together give the leads between them, including the lower bound; filter %j",
    async (filter) => {
      const query = `since=2026-01-31T09:15:00.100Z&before=2026-01-31T09:15:00.102Z${filter}`;
      expect(await asked({ leads }, `/leads?${query}`)).toEqual(ids([second, first]));
    },
  );
});

describe("the filters", () => {
  const california = aLead({ state: "CA", city: "San José", email: null, pixel_id: "px_a" });
  const nevada = aLead({ state: "NV", city: "Reno", pixel_id: "px_b" });
  const nowhere = aLead({ state: null, city: null, email: null, verified_email: "v@example.com", pixel_id: "px_b" });
  const leads = [california, nevada, nowhere];

  test.each([
    ["state=CA", [california]],
    ["state=ca", [california]],
    ["state=nV", [nevada]],
    ["state=ZZ", []],
    ["city=Reno", [nevada]],
    ["city=RENO", [nevada]],
    ["city=%20reno+", [nevada]],
    ["city=San%20Jos%C3%A9", [california]],
    ["city=SAN+JOSE%CC%81", [california]],
    ["city=San+Jose", []],
    ["city=Ren", []],
    ["city=Ren%25", []],
    ["city=Ren_", []],
    ["city=Atlantis", []],
    ["has_email=true", [nevada]],
    ["has_email=false", [nowhere, nevada, california]],
    ["pixel_id=px_b", [nowhere, nevada]],
    ["pixel_id=px_b&has_email=true", [nevada]],
    ["pixel_id=px_a&state=NV", []],
    ["state=NV&city=reno&pixel_id=px_b&has_email=true&limit=1", [nevada]],
    ["%73tate=CA", [california]],
  ])("%s returns exactly the matching leads", async (query, expected) => {
    expect(await asked({ leads }, `/leads?${query}`)).toEqual(ids(expected));
  });

  test.each([
    ["letters", "x".repeat(200)],
    ["emoji", "%F0%9F%A6%8A".repeat(200)],
    ["letters between spaces", `+++${"x".repeat(200)}%20`],
  ])("accepts a city of 200 %s", async (_, city) => {
    expect(await asked({ leads }, `/leads?city=${city}`)).toEqual([]);
  });

  test("a pixel without leads gives an empty page", async () => {
    expect(await asked({ pixels: [{ id: "px_new", status: "active" }] }, "/leads?pixel_id=px_new")).toEqual([]);
  });

  test("answers a pixel of another account like one that does not exist", async () => {
    const { as, aKey, anAccount } = await serve();
    anAccount({ pixels: [{ id: "px_theirs", status: "active" }] });
    const client = as(aKey());
    const theirs = await client.get("/leads?pixel_id=px_theirs");
    const nobodys = await client.get("/leads?pixel_id=px_nobodys");
    expect([theirs.status, theirs.body.error.code]).toEqual([404, "unknown_pixel"]);
    expect(nobodys.text).toBe(theirs.text);
  });

  test.each(["PX_A", "px_a%20", "%20px_a", "px", "%25"])("the pixel id %s is not that of px_a", async (pixel) => {
    const { as, aKey } = await serve({ leads });
    expect((await as(aKey()).get(`/leads?pixel_id=${pixel}`)).body.error.code).toBe("unknown_pixel");
  });
});

/** A value of each parameter that leaves out one of the two leads of the test below. */
const narrowing: Readonly<Record<LeadParameter, string>> = {
  limit: "1",
  before: "2026-01-31T10:00:00.000Z",
  since: "2026-01-31T10:00:00.000Z",
  pixel_id: "px_a",
  state: "NV",
  city: "Reno",
  has_email: "true",
};

test.each(Object.entries(narrowing))("no parameter is ignored: %s=%s leaves out a lead", async (name, value) => {
  const older = aLead({ identified_at: "2026-01-31T09:00:00.000Z", pixel_id: "px_a", state: "NV", city: "Reno" });
  const newer = { identified_at: "2026-01-31T10:00:00.000Z", pixel_id: "px_b", state: "CA", city: "Oakland" };
  const { as, aKey } = await serve({ leads: [older, aLead({ ...newer, email: null })] });
  const idsOf = async (query: string) => (await as(aKey()).get(`/leads${query}`)).body.data.map(({ id }) => id);
  const all = await idsOf("");
  expect(all).toHaveLength(2);
  expect(await idsOf(`?${name}=${encodeURIComponent(value)}`)).toHaveLength(1);
});
