/** The leads of payloads. A record has the same lead in any file. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ReadLead } from "../../src/import/map/lead.ts";
import { type Payload, payloads } from "./payloads.ts";
import { csv, leadsOf, shown, warningsOf } from "./reading.ts";

const textOf = ({ record }: Payload) => `${typeof record === "string" ? record : JSON.stringify(record)}\n`;

test.each(payloads.map((payload) => [payload.what, payload] as const))("%s", async (_, payload) => {
  const [reading, ...others] = await leadsOf(textOf(payload));
  expect(shown(reading)).toEqual(payload.lead);
  expect(others).toEqual([]);
});

const records = payloads.filter(({ record }) => typeof record !== "string");

test("a record gives the same lead alone, in any file or page, and in any order", async () => {
  const alone = new Map<string, ReadLead | undefined>();
  for (const payload of records) alone.set(payload.what, (await leadsOf(textOf(payload)))[0]);
  const list = fc.constantFrom("data", "results", "items", "leads", "visitors", "contacts", "my list");
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...records], { minLength: 2 }), list, async (shuffled, list) => {
      const together = await leadsOf(shuffled.map(textOf).join(""));
      expect(together).toEqual(shuffled.flatMap(({ what }) => alone.get(what) ?? []));
      const page = { [list]: shuffled.map(({ record }) => record) };
      expect(await leadsOf(JSON.stringify(page, null, 1))).toEqual(together);
    }),
    { numRuns: 100 },
  );
});

type Nested = string | null | { readonly [name: string]: Nested };

const nested = (() => {
  const name = fc.constantFrom(
    ...["email", "name", "url", "phone", "state", "city", "created_at", "timestamp", "value", "source"],
  );
  const parent = fc.constantFrom(
    ...["visitor", "contact", "owner", "company", "data", "lead", "session", "visits", "event", "location", "x"],
  );
  const value = fc.constantFrom("a@example.com", "b@example.com", "Dana", "/a", "6195550142", "NV", "2026-01-31", null);
  const leaf: fc.Arbitrary<Nested> = fc.dictionary(name, value, { maxKeys: 4 });
  const around = fc.dictionary(parent, fc.oneof(leaf, fc.dictionary(parent, leaf, { maxKeys: 2 })), { maxKeys: 4 });
  return fc.tuple(leaf, around).map(([own, more]): Nested => ({ ...more, ...Object(own), page_url: "/" }));
})();

test("whatever its names and values, a record gives the same lead alone and with others", async () => {
  const line = nested.map((record) => `${JSON.stringify(record)}\n`);
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 2, maxLength: 6 }), async (lines) => {
      const together = await leadsOf(lines.join(""));
      const alone = await Promise.all(lines.map((line) => leadsOf(line)));
      expect(together.map(shown)).toEqual(alone.flat().map(shown));
    }),
    { numRuns: 200 },
  );
});

test("a record is the same lead as a row of a table whose header has its paths, with dots", async () => {
  const cellsOf = (value: Nested, path: readonly string[]): string[][] =>
    typeof value === "string" || value === null
      ? [[path.join("."), value ?? ""]]
      : Object.entries(value).flatMap(([name, inner]) => cellsOf(inner, [...path, name]));
  await fc.assert(
    fc.asyncProperty(nested, async (record) => {
      // A table has no column for an object without names, which says that nobody is there.
      fc.pre(!JSON.stringify(record).includes("{}"));
      const [header = [], row = []] = [0, 1].map((place) => cellsOf(record, []).map((cell) => cell[place] ?? ""));
      expect(await leadsOf(csv([header, row]))).toEqual(await leadsOf(`${JSON.stringify(record)}\n`));
    }),
    { numRuns: 200 },
  );
});

test("a record is the same lead as JSON, with null or an empty text, and as CSV with an empty cell", async () => {
  const name = fc.constantFrom(
    ...["email", "Personal Email", "verified_email", "phone", "company", "company_state", "company_country"],
    ...["name", "first_name", "last_name", "contact_first_name", "contact_last_name", "city", "state", "country"],
    ...["created", "timestamp", "date", "time", "timezone", "page_url", "pagevisits_url", "referrer", "id", "pixel_id"],
  );
  const value = fc.constantFrom("a@example.com", "Dana", "/a", "6195550142", "NV", "FR", "2026-01-31", "10:00", "N/A");
  const record = fc.dictionary(name, fc.option(value, { freq: 2 })).map((some) => ({ ...some, gender: "F" }));
  await fc.assert(
    fc.asyncProperty(record, fc.constantFrom(null, "", " "), async (values, empty) => {
      const asTable = csv([Object.keys(values), Object.values(values).map((one) => one ?? "")]);
      const asObject = Object.fromEntries(Object.entries(values).map(([name, one]) => [name, one ?? empty]));
      expect(await leadsOf(`${JSON.stringify(asObject)}\n`)).toEqual(await leadsOf(asTable));
    }),
    { numRuns: 300 },
  );
});

const people = (() => {
  const value = fc.constantFrom("a@example.com", "b@example.com", "Dana", "6195550142", "Reno", "NV", "2026-01-31", "");
  const field = fc.constantFrom(
    ...["email", "name", "first_name", "phone", "city", "state", "company", "url", "created_at", "last_seen_at", "id"],
    ...["event", "type", "visitor_email", "customer_email", "user_name", "company_city"],
  );
  const object = fc.constantFrom(
    ...["visitor", "contact", "user", "customer", "traits", "owner", "company", "location", "session", "data", "match"],
  );
  const leaf: fc.Arbitrary<Nested> = fc.dictionary(field, value, { maxKeys: 5 });
  const inside = fc.oneof(leaf, fc.dictionary(object, leaf, { maxKeys: 2 }));
  const record = fc.tuple(leaf, fc.dictionary(object, inside, { maxKeys: 3 }));
  // A text that is no time is rejected in a file, and taken for none in a delivery.
  const withTimes = (name: string, value: unknown) => (/_at$/.test(name) ? "2026-01-31" : value);
  return record.map(([own, more]) => JSON.parse(JSON.stringify({ ...Object(own), ...more }, withTimes)));
})();

test("a record gives the same lead alone, in any file, in any order, and as a delivery", async () => {
  const lines = (records: readonly unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const ofFile = { mode: "command", stamp: "arrival" } as const;
  await fc.assert(
    fc.asyncProperty(fc.array(people, { minLength: 2, maxLength: 5 }), async (records) => {
      const alone = (await Promise.all(records.map((record) => leadsOf(lines([record]), ofFile)))).flat();
      expect(await leadsOf(lines(records), ofFile)).toEqual(alone);
      expect(await leadsOf(lines(records.toReversed()), ofFile)).toEqual(alone.toReversed());
      expect(await leadsOf(JSON.stringify(records, null, 1), ofFile)).toEqual(alone);
      const delivered = await leadsOf(lines(records), { mode: "delivery", stamp: "arrival" });
      expect(delivered.map(shown)).toEqual(alone.map(shown));
    }),
    { numRuns: 100 },
  );
});

test("nothing of a second person is in a lead, in what blocks it after an erasure, or in its ID", async () => {
  const rep = { email: "rep@example.com", phone: "702-555-0199", name: "Kim Reed", city: "Boise", id: "r1" };
  const other = fc.constantFrom("user", "customer", "owner", "agent", "created_by", "assigned_to", "account");
  await fc.assert(
    fc.asyncProperty(people, other, async (record, name) => {
      const own = { email: "a@example.com", ...record };
      const [alone] = await leadsOf(`${JSON.stringify({ ...own, [name]: {} })}\n`);
      const [together] = await leadsOf(`${JSON.stringify({ ...own, [name]: rep })}\n`);
      expect(JSON.stringify(together)).not.toMatch(/rep@example|7025550199|Kim Reed|Boise/);
      if (alone !== undefined && "lead" in alone) expect(together).toMatchObject({ lead: alone.lead });
    }),
    { numRuns: 200 },
  );
});

test("nothing at or below the name of a representative is in a lead, of a record or a table", async () => {
  const rep = { email: "rep@example.com", phone: "702-555-0199", first_name: "Kim", city: "Boise", page_url: "/rep" };
  const own = fc.dictionary(
    fc.constantFrom("email", "phone", "name", "city", "id"),
    fc.constantFrom("a@b.com", "", "17"),
  );
  const around = fc.array(
    fc.constantFrom(...["data", "lead", "visitor", "contact", "user", "session", "page", "company", "location", "x"]),
    { maxLength: 2 },
  );
  const named = fc.constantFrom(
    "owner",
    "agent",
    "sales_rep",
    "created_by",
    "assigned_to",
    "manager",
    "sender",
    "spouse",
  );
  const cellsOf = (value: unknown, path: readonly string[]): [readonly string[], string][] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => cellsOf(inner, [...path, name]))
      : [[path, String(value)]];
  await fc.assert(
    fc.asyncProperty(around, named, around, own, fc.constantFrom("_", " ", ".", "/"), async (...all) => {
      const [before, name, after, values, separator] = all;
      for (const items of [rep, [rep]]) {
        const others = [...before, name, ...after].reduceRight<unknown>((inner, one) => ({ [one]: inner }), items);
        const record = { ...values, ...Object(others), url: "/a" };
        const cells = cellsOf(record, []).map(([path, text]) => [path.join(separator), text]);
        const table = csv([0, 1].map((place) => cells.map((cell) => cell[place] ?? "")));
        for (const text of [`${JSON.stringify(record)}\n`, table])
          expect(JSON.stringify(await leadsOf(text))).not.toMatch(/rep@example|7025550199|Kim|Boise|\/rep/);
      }
    }),
    { numRuns: 200 },
  );
});

test("a second person is named in a warning, with the one that was read", async () => {
  const told = (record: unknown) => warningsOf(JSON.stringify(record));
  const [dana, lee] = [{ email: "dana@example.com" }, { email: "lee@example.com" }];
  const both = (read: string, unread: string) => [
    `the record names several people; ${read} was read, and ${unread} was not`,
  ];
  expect(await told({ visitor: dana, customer: lee })).toEqual(both("visitor", "customer"));
  expect(await told({ ...dana, user: lee })).toEqual(both("the record itself", "user"));
  expect(await told({ visitor: dana, contact: { city: "Reno" } })).toEqual([]);
  expect(await told({ visitor: dana, contact: { email: "" } })).toEqual([]);
  expect(await warningsOf("Visitor Email,Customer Email\ndana@example.com,lee@example.com\n")).toEqual(
    both("visitor", "customer"),
  );
});
