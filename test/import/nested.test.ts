/** NDJSON: objects within objects, lists, and values that are no text. */
import { describe, expect, test } from "bun:test";
import { firstLead, leadOf, leadOfObject, leadsOf, readPieces, readText, shown, warningsOf } from "./reading.ts";

test.each<[string, object]>([
  ["phone", { work_phone: "702-555-0142", mobile_phone: "702-555-0143" }],
  ["email", { work_email: "dana@harbor.example.com", personal_email: "dana@example.com" }],
])("names of a field in an object named %s count in the same order as outside of it", async (field, names) => {
  const record = { name: "Dana" };
  expect(await leadOfObject({ ...record, [field]: names })).toEqual(await leadOfObject({ ...record, ...names }));
});

describe("the id of an event", () => {
  const idOf = async (object: object) =>
    (await firstLead(JSON.stringify({ email: "dana@example.com", ...object })))?.id ?? null;
  const own = "0d0f2c4e-6a1b-4c3d-8e5f-00112233aabb";

  test("is kept in lowercase if it is a UUID", async () => {
    expect(await idOf({ id: own.toUpperCase() })).toBe(own);
    expect(await idOf({ event: { id: own } })).toBe(own);
  });

  test("is never that of the person, the company or the session", async () => {
    const without = await idOf({});
    for (const thing of ["person", "contact", "company", "session", "visitor"]) {
      expect(await idOf({ [thing]: { id: own } })).toBe(without);
    }
  });

  test("differs for each number, even beyond the precision of JavaScript", async () => {
    const line = (id: string) => `{"id":${id},"email":"dana@example.com"}\n`;
    const [one, other] = await leadsOf(line("1234567890123456788") + line("1234567890123456789"));
    expect(one).not.toEqual(other);
  });
});

test("of a list, the first non-empty value counts, and numbers and booleans become text", async () => {
  const lead = { name: ["", null, "N/A", "Dana", "Lee"], age: 44, married: true, children: false, homeowner: null };
  expect(await leadOfObject(lead)).toEqual({
    name: "Dana",
    age_range: "44",
    marital_status: "true",
    children: "false",
  });
});

test("a list of several people names nobody, and of several visits the first is read, both with a warning", async () => {
  const told = (record: unknown) => warningsOf(JSON.stringify(record));
  const dana = { name: "Dana", email: "dana@example.com" };
  const lee = { name: "Lee", email: "lee@example.com" };
  for (const contacts of [
    [dana, lee],
    [[dana], [lee]],
    [{ first_name: "Dana" }, { phone: "6195550123" }],
  ]) {
    expect(await told({ page_url: "/a", contacts })).toEqual(["people"]);
    expect(await leadOfObject({ page_url: "/a", contacts, user: lee })).toEqual({ page_url: "/a" });
  }
  expect(await told({ page_url: "/a", contacts: [dana, { name: null }] })).toEqual([]);
  expect(await leadOfObject({ page_url: "/a", contacts: [dana] })).toEqual({ ...dana, page_url: "/a" });
  expect(await told({ ...dana, people: [lee, { name: "Sam" }] })).toEqual(["people"]);
  expect(await told({ ...dana, emails: [{ value: dana.email }, { value: "d@home.example" }] })).toEqual([]);
  const visits = [
    { url: "/a", referrer: "/" },
    { url: "/b", referrer: "/" },
  ];
  expect(await told({ ...dana, visits })).toEqual(["visits"]);
  expect(await leadOfObject({ ...dana, visits })).toEqual({ ...dana, page_url: "/a", referrer: "/" });
  expect(await told({ ...dana, visits: visits.slice(1) })).toEqual([]);
});

describe("a file with new names in every line", () => {
  const many = Array.from({ length: 20_000 }, (_, n) => n);

  test("is read in linear time and bounded memory", async () => {
    const begun = process.cpuUsage();
    const lines = many.map(
      (n) => `${JSON.stringify({ email: `d${n}@example.com`, attributes: { [`key ${n}`]: 1 } })}\n`,
    );
    const { rows, columns } = await readPieces(lines.map((line) => Buffer.from(line)));
    expect([rows.length, columns.all.length]).toEqual([20_000, 2000]);
    expect(process.cpuUsage(begun).user).toBeLessThan(10_000_000);
  });

  test("is rejected if one line has them all", async () => {
    const attributes = Object.fromEntries(many.map((n) => [`key ${n}`, 1]));
    expect(await leadOfObject({ email: "d@example.com", attributes })).toEqual({
      fault: "it has more than 2,000 names",
    });
  });

  test("is rejected as CSV above 2,000 columns", async () => {
    const header = (count: number) =>
      `email${many
        .slice(1, count)
        .map((n) => `,c${n}`)
        .join("")}`;
    const read = (count: number) => leadsOf(`${header(count)}\nd@example.com${",".repeat(count - 1)}\n`);
    expect(shown((await read(2_000))[0])).toEqual({ email: "d@example.com" });
    await expect(read(2_001)).rejects.toThrow("more than 2,000 columns");
  });
});

test("nested objects are read to a fixed depth", async () => {
  const nested = (depth: number, email: string): object =>
    depth === 0 ? { email } : { data: nested(depth - 1, email) };
  expect(await leadOfObject(nested(20, "d@example.com"))).toEqual({ email: "d@example.com" });
  expect(await leadOfObject(nested(40, "d@example.com"))).toEqual({
    fault: expect.stringContaining("it has no value except"),
  });
});

test.each(["[1]", '"x"', "17", "null", '{"email":', "{'email':1}", "email"])(
  "a line that is no JSON object is rejected, and the next one is read: %s",
  async (line) => {
    const [, bad, good] = await leadsOf(`{"name":"A"}\n${line}\n{"name":"B"}\n`);
    expect(bad).toEqual({ fault: "it is not a JSON object" });
    expect(shown(good)).toEqual({ name: "B" });
  },
);

test("empty lines, spaces, and carriage returns around lines are ignored", async () => {
  const { rows } = await readText(' {"name":"A"} \r\n\r\n \n{"name":"B"}');
  expect(rows.map(({ line }) => line)).toEqual([1, 4]);
});

test.each<[string, object | null]>([
  ["without an email address", { id: "1", email: null }],
  ["without values", {}],
  ["that is null", null],
])("a user is not read where a customer is named %s", async (_, customer) => {
  const user = { email: "rep@us.example.com", name: "Rep" };
  const at = "2026-01-05T00:00:00.000Z";
  expect(await leadOfObject({ customer, user, page_url: "/a", date: "2026-01-05" })).toEqual({ page_url: "/a", at });
  expect(await leadOfObject({ user, session: { customer, url: "/a" } })).toEqual({ page_url: "/a" });
  expect(await leadOfObject({ user })).toEqual(user);
});

test("an object that is named after a time or a referrer gives its value", async () => {
  const record = {
    email: "d@example.com",
    seen_at: { $date: "2026-01-31T09:15:00Z" },
    referrer: { url: "https://x.example/" },
  };
  expect(await leadOfObject(record)).toEqual({
    email: "d@example.com",
    at: "2026-01-31T09:15:00.000Z",
    referrer: "https://x.example/",
  });
});

test("contacts next to a company are suggestions, and only --map makes one of them the visitor", async () => {
  const kim = { name: "Kim Reed", email: "kim@vendor.example" };
  const record = JSON.stringify({ company: { name: "Harbor" }, contacts: [kim] });
  expect(await leadOfObject(JSON.parse(record))).toEqual({ company: "Harbor" });
  expect(await warningsOf(record)).toEqual(["people"]);
  expect((await leadsOf(record, {}, "contacts=person")).map(shown)).toEqual([{ ...kim, company: "Harbor" }]);
  expect(await leadOfObject({ organization: { name: "Harbor" }, people: [kim] })).toEqual({ company: "Harbor" });
  expect(await leadOfObject({ company: "Harbor", contact: kim })).toEqual({ ...kim, company: "Harbor" });
  for (const people of [{ session: { people: [kim] } }, { data: { contacts: [kim] } }, { contacts: [{ user: kim }] }]) {
    expect(await leadOfObject({ organization_name: "Harbor", ...people })).toEqual({ company: "Harbor" });
  }
  expect(await leadOfObject({ contacts: [{ ...kim, company: "Harbor" }] })).toEqual({ ...kim, company: "Harbor" });
});

test("a phone or an address in a list is read only if its type does not say that it is somebody else's", async () => {
  const phones = [
    { type: "company", number: "7025550199" },
    { type: "mobile", number: "6195550101" },
  ];
  const emails = [
    { label: "Assistant", value: "kim@example.com" },
    { label: "business", value: "dana@example.com" },
  ];
  const [lead] = await leadsOf(`${JSON.stringify({ visitor: { phones, emails } })}\n`);
  expect(shown(lead)).toEqual({ email: "dana@example.com", phone: "6195550101" });
  expect(lead).toMatchObject({ lead: { aliases: [] } });
  expect(await leadOfObject({ page_url: "/a", phone: phones.slice(0, 1), emails: emails.slice(0, 1) })).toEqual({
    page_url: "/a",
  });
});

test("the city of a company does not replace the city of a contact", async () => {
  const row = { "First Name": "Dana", "Company City": "Austin", "Person City": "Reno", "Person State": "NV" };
  expect(await leadOf(row)).toEqual({ name: "Dana", city: "Reno", state: "NV" });
});

test("a bare name next to an unknown object that names somebody is not read as a person's name", async () => {
  const deal = { contact: { email: "dana@example.com" } };
  expect(await leadOfObject({ name: "Deal 7", page_url: "/a", deal })).toEqual({ page_url: "/a" });
});

test.each([{}, null, { id: "v1" }])("a bare name next to the visitor %j is the name of the page", async (visitor) => {
  expect(await leadOfObject({ name: "Pricing", url: "/pricing", visitor })).toEqual({ page_url: "/pricing" });
});
