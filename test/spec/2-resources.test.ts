/** §2: the shapes of what is answered, down to the byte. */
import { expect, test } from "bun:test";
import { leadFields } from "../../src/contract/lead.ts";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

const full = aLead({
  id: "0198a1b2-0000-8000-8000-00000000000a",
  identified_at: "2026-01-31T09:15:00.123Z",
  name: 'Zoë "Z" O’Neil 🦊',
  verified_email: "zoe@example.org",
  children: "2",
});
const bare = aLead({
  ...Object.fromEntries(leadFields.map((field) => [field, null])),
  id: "0198a1b2-0000-8000-8000-00000000000b",
  identified_at: "2026-01-31T09:14:59.000Z",
  pixel_id: "px_site",
});

test("a page has object, data, has_more, and next_cursor, and its leads their fields in the order of the specification", async () => {
  const { as, aKey } = await serve({ leads: [full, bare, aLead({ identified_at: "2026-01-30T00:00:00.000Z" })] });
  const { text } = await as(aKey()).get("/leads?limit=2");
  expect(text).toBe(
    '{"object":"list","data":[{"id":"0198a1b2-0000-8000-8000-00000000000a",' +
      '"identified_at":"2026-01-31T09:15:00.123Z","pixel_id":"px_site","name":"Zoë \\"Z\\" O’Neil 🦊",' +
      '"email":"dana@example.com","verified_email":"zoe@example.org","phone":"15550142","company":"Harbor & Pine",' +
      '"city":"San Diego","state":"CA","gender":"F","age_range":"35-44","income_range":"$75,000-$99,999",' +
      '"net_worth":"$100,000-$249,999","marital_status":"married","homeowner":"yes","children":"2",' +
      '"page_url":"https://shop.example.com/pricing?plan=team","referrer":"https://search.example.com/",' +
      '"traffic_source":"organic"},{"id":"0198a1b2-0000-8000-8000-00000000000b",' +
      '"identified_at":"2026-01-31T09:14:59.000Z","pixel_id":"px_site","name":null,"email":null,' +
      '"verified_email":null,"phone":null,"company":null,"city":null,"state":null,"gender":null,"age_range":null,' +
      '"income_range":null,"net_worth":null,"marital_status":null,"homeowner":null,"children":null,"page_url":null,' +
      '"referrer":null,"traffic_source":null}],"has_more":true,"next_cursor":"2026-01-31T09:14:59.000Z"}',
  );
});

test("a new account has an empty page with has_more false and next_cursor null, and an empty list of pixels", async () => {
  const { as, aKey } = await serve();
  const client = as(aKey());
  expect((await client.get("/leads")).text).toBe('{"object":"list","data":[],"has_more":false,"next_cursor":null}');
  expect((await client.get("/pixels")).text).toBe('{"object":"list","data":[]}');
});

test.each([
  ["a second", "2026-01-31T09:15:00Z", "2026-01-31T09:15:00.000Z"],
  ["the first year", "0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"],
  ["the millisecond before 1970", "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
  ["the last year", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
])("a lead of %s is served with three decimals in UTC", async (_, identified_at, served) => {
  const { as, aKey } = await serve({ leads: [aLead({ identified_at })] });
  expect((await as(aKey()).get("/leads")).body.data[0]?.identified_at).toBe(served);
});

test("pixels have an id and a status alone, and are listed in the order of creation, without has_more and next_cursor", async () => {
  const pixels = [
    { id: "px_shop", status: "active" },
    { id: "a pixel / with ünusual id", status: "paused" },
  ];
  const { as, aKey } = await serve({ pixels });
  const { text } = await as(aKey()).get("/pixels");
  expect(text).toBe(
    '{"object":"list","data":[{"id":"px_shop","status":"active"},' +
      '{"id":"a pixel / with ünusual id","status":"paused"}]}',
  );
});

test("usage has object, requests_today, requests_this_month, and rate_limit_per_min, and counts its own request", async () => {
  const { as, aKey } = await serve({ limit: 60 });
  const { text } = await as(aKey()).get("/usage");
  expect(text).toBe('{"object":"usage","requests_today":1,"requests_this_month":1,"rate_limit_per_min":60}');
});

test("an error has a code, a message, and a link to its section of the documentation", async () => {
  const { anonymous } = await serve({ baseUrl: "https://www.example.com" });
  const { text } = await anonymous.get("/leads");
  expect(text).toBe(
    '{"error":{"code":"missing_api_key",' +
      '"message":"No API key was sent; send the header Authorization: Bearer <API_KEY>.",' +
      '"docs":"https://www.example.com/docs#missing_api_key"}}',
  );
});
