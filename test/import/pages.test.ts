/** Pages of an API: JSON that holds many records is read whole, whatever it is called and wherever its lines end. */
import { describe, expect, test } from "bun:test";
import { leadsOf, readText, shown } from "./reading.ts";

const dana = { name: null, email: "dana@example.com" };
const lee = { name: "Lee", email: "lee@example.com" };
const sam = { name: "Sam", email: "sam@example.com" };
const both = [{ email: "dana@example.com" }, { name: "Lee", email: "lee@example.com" }];

const readAll = async (text: string) => (await leadsOf(text)).map(shown);
const leadText = async (text: string) => JSON.stringify(await readAll(text));

const names =
  "data,results,result,items,records,rows,events,leads,visitors,contacts,people,profiles,my list,sessions,payload";

const shapes: [string, unknown][] = [
  ...names.split(",").map((name): [string, unknown] => [`{"${name}":[…]}`, { [name]: [dana, lee] }]),
  ["an array", [dana, lee]],
  ["data.items", { data: { items: [dana, lee] } }],
  ["response.result.contacts", { response: { result: { contacts: [dana, lee] } } }],
  ["a list and what is said of the page", { object: "list", data: [dana, lee], has_more: true, next_cursor: "x" }],
  ["numbers of pages and links", { page: 1, total: 2, links: { next: "?page=2" }, results: [dana, lee] }],
  ["the address of the list", { object: "list", url: "/v1/customers", data: [dana, lee] }],
  ["the time of the answer", { status: "ok", timestamp: "2026-02-01T00:00:00Z", data: [dana, lee] }],
  ["an account next to its leads", { account: { name: "Acme", email: "owner@example.com" }, leads: [dana, lee] }],
  ["an empty list next to it", { errors: [], data: [dana, lee] }],
];

describe.each(shapes)("%s", (_, page) => {
  test.each([
    ["on one line", JSON.stringify(page)],
    ["over many lines", JSON.stringify(page, null, 2)],
    [
      "with a record a line",
      JSON.stringify(page).replaceAll("[{", "[\n{").replaceAll("},{", "},\n{").replaceAll("}]", "}\n]"),
    ],
    ["after empty lines", `\n\n${JSON.stringify(page)}\n\n`],
  ])("reads all of %s", async (_, text) => {
    expect(await readAll(text)).toEqual(both);
  });

  test("is read completely as the second line of a file", async () => {
    expect(await readAll(`{"email":"sam@example.com"}\n${JSON.stringify(page)}\n`)).toEqual([
      { email: "sam@example.com" },
      ...both,
    ]);
  });
});

test.each<[string, object]>([
  ["a person with visits", { email: "dana@example.com", visits: [{ url: "/a" }, { url: "/b" }] }],
  ["a visit with a person in a list", { url: "/a", contacts: [{ email: "dana@example.com" }] }],
  ["a person with addresses in a list", { emails: [{ value: "dana@example.com" }, { value: "lee@example.com" }] }],
  [
    "a pixel, a time, and a page with a list",
    { pixel: "px", timestamp: "2026-01-05T10:00:00Z", url: "/a", data: [dana] },
  ],
  ["lists of which each has one object", { contacts: [{ email: "dana@example.com" }], visits: [{ url: "/a" }] }],
])("%s is one record", async (_, record) => {
  const leads = await readAll(`${JSON.stringify(record)}\n`);
  expect(leads).toEqual([expect.objectContaining({ email: "dana@example.com" })]);
});

test("the first company of a list is the lead's company", async () => {
  expect(await readAll(JSON.stringify({ companies: [{ name: "Harbor", city: "Reno" }] }))).toEqual([
    { company: "Harbor", city: "Reno" },
  ]);
});

test.each([
  ["pages in a list, as jq -s makes it", [{ data: [dana, lee] }, { data: [sam] }]],
  [
    "pages with their numbers",
    [
      { page: 1, data: [dana, lee] },
      { page: 2, data: [sam] },
    ],
  ],
  ["lists in the list of a page", { data: [[dana, lee], [sam]] }],
  ["lists in a list", [[dana, lee], [sam]]],
])("%s: every record is read", async (_, pages) => {
  expect(await readAll(JSON.stringify(pages))).toEqual([...both, { name: "Sam", email: "sam@example.com" }]);
  expect(await readAll(JSON.stringify(pages, null, 2))).toEqual([...both, { name: "Sam", email: "sam@example.com" }]);
});

test("a page without records is not a rejected row", async () => {
  for (const text of ["[]", '{"data":[],"has_more":false}', "[\n]\n"]) expect(await readAll(text)).toEqual([]);
});

test("people next to a visit are one record, of which nobody is the visitor", async () => {
  expect(await readAll(JSON.stringify({ contacts: [dana, lee], visits: [{ url: "/a" }] }))).toEqual([
    { page_url: "/a" },
  ]);
});

test.each<object>([
  { match: { individual: { name: "Ann", email: "a@b.com" } }, relatives: [lee, sam] },
  { lead_data: { name: "Ann", email: "a@b.com" }, interests: [{ name: "Sailing" }, { name: "Chess" }] },
  { lead_info: { first_name: "Ann" }, page_history: [{ url: "/a", timestamp: "2026-01-05T10:00:00Z" }, { url: "/b" }] },
  { match: { individual: { emails: ["a@b.com"] } }, relatives: [lee, sam] },
  { match: { individual: { emails: [{ value: "a@b.com" }] } }, relatives: [lee, sam] },
  { found: { phone: 15551234567 }, relatives: [lee, sam] },
])("a person in an unknown object makes a document a record, and nobody in its list is a lead: %j", async (record) => {
  expect(await readAll(JSON.stringify(record))).toEqual([{ fault: expect.stringContaining("it has no value except") }]);
});

test.each<object>([
  { visitor: { email: null } },
  { visitor: {} },
  { visitor: null },
  { email: "" },
  { phone: 6195550123 },
  { event: { email: "a@b.com" } },
])("the entries of a list next to %j are others, even if the visitor was not identified", async (record) => {
  const text = JSON.stringify({ ...record, url: "/a", relatives: [lee, sam] });
  expect(await readAll(text)).toEqual([expect.objectContaining({ page_url: "/a" })]);
  expect(await leadText(text)).not.toContain(lee.email);
});

test.each<object>([{ owner: { data: [lee, sam] } }, { agents: { items: [lee] } }, { rep: { match: [lee, sam] } }])(
  "no list of a representative is the list of records: %j",
  async (record) => expect(await leadText(JSON.stringify(record))).not.toContain("@"),
);

test.each<object>([
  { links: { first: "/people?page=1", last: "/people?page=9" } },
  { paging: { first: "c3RhcnQ9MQ==", last: "?page=9", count: { email: 2, phone: 1 } } },
  { included: [{ attributes: { email: "kim@example.com" } }], campaign: { name: "Summer" } },
  { warnings: [{ email: "kim@example.com" }], errors: [{ email: "ann@example.com" }] },
  { meta: { created_by: { email: "kim@example.com" }, sales_rep: { email: "kim@example.com", first_name: "Kim" } } },
])("what is said of a page is no person: %j", async (around) => {
  expect(await readAll(JSON.stringify({ ...around, data: [dana, lee] }))).toEqual(both);
});

test("a list of objects under the name of a time, a pixel, or an ID may be that of the records", async () => {
  for (const name of ["matched", "identified", "resolved", "pixels", "ids"]) {
    expect(await readAll(JSON.stringify({ [name]: [dana, lee] }))).toEqual(both);
    const [reading] = await readAll(
      JSON.stringify({ [name]: [dana, lee], unmatched: [{ company: "A" }, { company: "B" }] }),
    );
    expect(reading).toEqual({ fault: expect.stringContaining(`jq -c '.${name}[]' or '.unmatched[]'`) });
  }
});

test("a list of names with their values is no list of records, but the fields of one", async () => {
  const fields = [
    { name: "email", values: ["dana@example.com"] },
    { name: "plan", values: ["Pro"] },
  ];
  const pairs = fields.map(({ name, values: [value] }) => ({ name, value }));
  for (const list of [fields, pairs]) {
    expect(await readAll(JSON.stringify({ field_data: list, page_url: "/a" }))).toEqual([{ page_url: "/a" }]);
    expect(await readAll(JSON.stringify({ field_data: list }))).toHaveLength(1);
    expect(await readAll(JSON.stringify({ tags: list, data: [dana, lee] }))).toEqual(both);
    expect(await readAll(JSON.stringify({ data: [{ field_data: list }, lee] }))).toHaveLength(2);
  }
});

test("a record with a list of several people is rejected with that reason", async () => {
  const reason = "it has a list of several people, none of whom is known to be the visitor";
  expect(await readAll(JSON.stringify({ contacts: [dana, lee], pixel: "px_a" }))).toEqual([{ fault: reason }]);
  const [reading] = await leadsOf(JSON.stringify({ found: [dana, lee], pixel: "px_a" }), {}, "found=person");
  expect(reading).toEqual({ fault: reason });
});

test("--map of a list of several people finds it, and nobody in it is read", async () => {
  for (const name of ["people_found", "match.people_found"]) {
    const list = name.split(".").reduceRight<unknown>((inner, one) => ({ [one]: inner }), [lee, sam]);
    const { columns } = await readText(JSON.stringify({ ...Object(list), page_url: "/a" }), `${name}=person`);
    expect(columns.missing()).toEqual([]);
    const [reading] = await leadsOf(JSON.stringify({ ...Object(list), page_url: "/a" }), {}, `${name}=person`);
    expect(reading).toMatchObject({ warnings: ["people"] });
    expect(shown(reading)).toEqual({ page_url: "/a" });
  }
});

test("--map of the list of records makes each record a person", async () => {
  const text = JSON.stringify({ total: 2, people_found: [dana, lee] });
  expect((await leadsOf(text, {}, "people_found=person")).map(shown)).toEqual((await leadsOf(text)).map(shown));
  expect((await readText(text, "people_found=person")).columns.missing()).toEqual([]);
});

test("two lists of records are rejected with the jq filters to choose", async () => {
  const [reading] = await readAll(JSON.stringify({ contacts: [dana, lee], leads: [sam, lee] }));
  expect(reading).toEqual({ fault: expect.stringContaining("jq -c '.contacts[]' or '.leads[]'") });
});

test.each<object>([
  { profiles: { u1: dana, u2: lee } },
  { "dana@example.com": dana, "lee@example.com": lee },
  { owners: [dana, lee] },
])("people under an unknown parent are not the visitor: %j", async (page) => {
  expect(await readAll(JSON.stringify(page))).toEqual([{ fault: expect.stringContaining("it has no value except") }]);
});

test("rejects a list of lists with the command that converts it to CSV", async () => {
  for (const between of ["", " ", "\n"]) {
    const rows = `[${between}["email"],${between}["d@example.com"]]`;
    await expect(leadsOf(rows)).rejects.toMatchObject({ advice: "Convert it: jq -r '.[] | @csv' FILE > leads.csv" });
  }
});

test("rejects JSON nested too deeply, and reads the next line", async () => {
  const visit = (levels: number) => `{"email":"a@example.com","more":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  const [deep, ...others] = await readAll([visit(200_000), visit(999), '{"email":"b@example.com"}'].join("\n"));
  expect(deep).toBeDefined();
  expect(others).toEqual([{ email: "a@example.com" }, { email: "b@example.com" }]);
});

test("a rejects file has the records of a page unchanged", async () => {
  const { rows } = await readText('{"data":[{"email":"d@example.com"},\n{"id":12345678901234567890}]}');
  expect(rows.map(({ source }) => source)).toEqual(['{"email":"d@example.com"}', '{"id":"12345678901234567890"}']);
});

test("a damaged first line rejects only that line", async () => {
  expect(await readAll('{"email":\n{"email":"dana@example.com"}\n{"email":"lee@example.com"}\n')).toEqual([
    { fault: "it is not a JSON object" },
    { email: "dana@example.com" },
    { email: "lee@example.com" },
  ]);
});
