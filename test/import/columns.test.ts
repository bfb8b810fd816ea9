/** Which column is which: what --map says goes first, and what became of each column is told. */
import { describe, expect, test } from "bun:test";
import { readMapping } from "../../src/import/map/mapping.ts";
import { reportOn } from "../../src/import/map/report.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { columnsByField, leadsOf, readText, shown } from "./reading.ts";

const fieldsOf = async (header: string, map: string | null = null) => {
  const { columns } = await readText(`${header}\n`, map);
  return Object.fromEntries(
    Object.entries(columnsByField(columns)).map(([target, names]) => [target, names.join(" then ")]),
  );
};

describe("--map", () => {
  test("of one half of a name keeps the other half", async () => {
    const [lead] = await leadsOf(
      "visitor_first_name,visitor_last_name,Nachname\nAnn,L.,Lee\n",
      {},
      "Nachname=last_name",
    );
    expect(lead).toMatchObject({ lead: { document: expect.stringContaining('"name":"Ann Lee"') } });
  });

  test("overrules the name of a column", async () => {
    expect(await fieldsOf("email,url,ref", "url=referrer,ref=page_url")).toEqual({
      email: "email",
      referrer: "url",
      page_url: "ref",
    });
  });

  test("takes precedence over known columns", async () => {
    expect(await fieldsOf("email,contact", "contact=email")).toEqual({ email: "contact then email" });
  });

  test("ignores a column with -, and does not suggest to keep it", async () => {
    expect(await fieldsOf("email,phone", "phone=-")).toEqual({ email: "email" });
  });

  test("is offered for a field that nothing else fills, and never for another person, an ID, or a hash", async () => {
    const mapsOf = async (header: string) => reportOn((await readText(`${header}\n`)).columns).maps;
    expect(await mapsOf("Tracked Email,page")).toEqual(["--map 'Tracked Email=email'"]);
    for (const other of ["Owner Email", "hubspot_owner_email", "User ID", "SHA256_PERSONAL_EMAIL", "Assistant Phone"]) {
      expect([other, await mapsOf(`${other},page`)]).toEqual([other, []]);
    }
  });

  test.each(["First Name", "first_name", "FIRST-NAME"])("finds its column spelled as %s", async (name) => {
    expect(await fieldsOf("First Name,email", `${name}=company`)).toEqual({ company: "First Name", email: "email" });
  });

  test("finds nested columns by the full path and by the last name", async () => {
    for (const map of ["a.b.handle=name", "handle=name"]) {
      const [lead] = await leadsOf('{"a":{"b":{"handle":"Dana"}}}\n', {}, map);
      expect(shown(lead)).toEqual({ name: "Dana" });
    }
  });

  test.each(["Имя", "電話", "Prénom"])("finds the non-ASCII column %s", async (name) => {
    expect(await fieldsOf(`x,${name}`, `${name}=name`)).toEqual({ name });
  });

  test.each(["", "email", "=email", "a=", "a=mail", "a=email,,b=phone"])("rejects %j with status 2", (text) => {
    expect(() => readMapping(text)).toThrow(UserError);
    try {
      readMapping(text);
    } catch (refusal) {
      expect(refusal).toMatchObject({ status: 2 });
    }
  });
});

describe("the creation time of a record", () => {
  test("is not the time of the visit if the record is the person, but for --map", async () => {
    const header = "Email,First Name,Last Name,City,URL,Created";
    expect((await fieldsOf(header))["identified_at"]).toBeUndefined();
    expect(await fieldsOf(header, "Created=identified_at")).toMatchObject({ identified_at: "Created" });
  });

  test("is the time of the visit if the person is another object", async () => {
    const [lead] = await leadsOf('{"created_at":"2026-01-31T09:15:00Z","visitor":{"email":"d@example.com"}}\n');
    expect(shown(lead)).toEqual({ email: "d@example.com", at: "2026-01-31T09:15:00.000Z" });
  });
});

describe("--map of an object", () => {
  const record =
    '{"match":{"individual":{"email":"d@example.com","city":"Reno"}},"user":{"email":"rep@example.com"}}\n';

  test("makes it the person, also in a table that has its paths", async () => {
    const dana = { email: "d@example.com", city: "Reno" };
    for (const map of ["match.individual=person", "individual=person"]) {
      expect((await leadsOf(record, {}, map)).map(shown)).toEqual([dana]);
    }
    const table = "match.individual.email,match.individual.city,user.email\nd@example.com,Reno,rep@example.com\n";
    expect((await leadsOf(table, {}, "match.individual=person")).map(shown)).toEqual([dana]);
  });

  test("keeps it out with -", async () => {
    const nobody = { fault: expect.stringContaining("it has no value") };
    expect(await leadsOf(record, {}, "user=-")).toEqual([nobody]);
    expect((await leadsOf(record, {}, "match=-")).map(shown)).toEqual([{ email: "rep@example.com" }]);
  });
});

describe("a user", () => {
  const user = '"user":{"email":"rep@example.com"}';

  test.each(['"visitor":null', '"visitor":{}', '"visitors":[]', '"visit":{"visitor":null}', '"visitor":{"id":"v1"}'])(
    "is not the visitor next to %s",
    async (nobody) => {
      const record = `{${user},${nobody}}\n`;
      expect(await leadsOf(record)).toEqual([{ fault: expect.stringContaining("it has no value") }]);
    },
  );

  test.each([
    '"match":{"individual":{"email":"d@example.com"}}',
    '"lead_info":{"first_name":null}',
    '"leads":[{"email":"d@example.com"},{"email":"e@example.com"}]',
  ])("is not the visitor next to %s, which may be", async (other) => {
    expect(await leadsOf(`{${user},${other}}\n`)).toEqual([
      { fault: expect.stringMatching(/no value|several people/) },
    ]);
  });

  test.each([
    '"owner":null',
    '"store":{"email":"shop@example.com"}',
    '"company":{}',
    '"page":null',
    '"owner":{"contact":null}',
  ])("is the visitor next to %s", async (other) => {
    expect((await leadsOf(`{${user},${other}}\n`)).map(shown)).toEqual([{ email: "rep@example.com" }]);
  });

  test("is the visitor if --map makes it the person, or keeps the empty one out", async () => {
    const record = `{${user},"visitor":null}\n`;
    for (const map of ["user=person", "visitor=-"]) {
      expect((await leadsOf(record, {}, map)).map(shown)).toEqual([{ email: "rep@example.com" }]);
    }
  });
});

test("the name of a field of a form is no person's", async () => {
  const fields = [
    { name: "email", values: ["d@example.com"] },
    { name: "full_name", values: ["Dana Whitfield"] },
  ];
  const empty = { fault: expect.stringContaining("it has no value") };
  expect(await leadsOf(`${JSON.stringify({ id: "1", field_data: fields })}\n`)).toEqual([empty]);
  expect(await leadsOf('{"name":"email","value":"d@example.com"}\n')).toEqual([empty]);
  expect((await leadsOf('{"name":"Dana","email":"d@example.com","value":"9"}\n')).map(shown)).toEqual([
    { name: "Dana", email: "d@example.com" },
  ]);
});

test("two columns of the same name are two columns of the same field", async () => {
  const [first, second] = await leadsOf("email,email,phone\n,a@example.com,1\nb@example.com,,2\n");
  expect(shown(first)).toMatchObject({ email: "a@example.com" });
  expect(shown(second)).toMatchObject({ email: "b@example.com" });
});

test("unnamed and unknown columns are listed as not kept", async () => {
  const { columns } = await readText("email,,Shoe Size\n");
  expect(reportOn(columns).unmatched).toEqual(["(column 2)", "Shoe Size"]);
});

test("a column with the name that a third one would get keeps its cells, and so do those after it", async () => {
  const [lead] = await leadsOf("phone (3),phone,phone,state,email\n,,6195550123,CA,d@example.com\n");
  expect(lead).toMatchObject({ lead: { state: "CA" } });
});

test("the two columns of a rejects file are ignored without a warning", async () => {
  const { columns } = await readText("email,reject_line,reject_reason\n");
  expect(reportOn(columns).unmatched).toEqual([]);
});

describe("of several people in the columns of one row", () => {
  const read = async (text: string) => shown((await leadsOf(text))[0]);

  test("a visitor who has only a name precedes a contact, as in JSON", async () => {
    const header = "Visitor Name,Visitor Email,Contact Name,Contact Email";
    expect(await read(`${header}\nAnn,,Bob,bob@x.com\n`)).toEqual({ name: "Ann" });
    expect(await read(`${header}\n,,Bob,bob@x.com\n`)).toEqual({ name: "Bob", email: "bob@x.com" });
    expect(await read(`${header},City\nAnn,,,,Reno\n`)).toEqual({ name: "Ann", city: "Reno" });
  });

  test("a prefix and a parent of one name are one object", async () => {
    expect(await read("Contact Name,Email,Contact.Email\nAnn,,c@b.com\n")).toEqual({ name: "Ann", email: "c@b.com" });
    expect(await read("Contact Name,Contact.Email\nAnn,c@b.com\n")).toEqual({ name: "Ann", email: "c@b.com" });
  });

  test("columns with the number of a second person's name are not read as the visitor's", async () => {
    const header = "First Name,Email,Phone,First Name 2,Email 2,Phone 2";
    const [lead] = await leadsOf(`${header}\nAnn,a@x.com,,Bob,b@x.com,6195550123\n`);
    expect(lead).toMatchObject({ lead: { aliases: [] } });
    expect(shown(lead)).toEqual({ name: "Ann", email: "a@x.com" });
    expect(await read("Name 1,Email 1,Name 2,Email 2,City\nAnn,a@x.com,Bob,b@x.com,Reno\n")).toEqual({ city: "Reno" });
    expect(await read("First Name,Email 2,Phone 2\nAnn,a@x.com,6195550123\n")).toMatchObject({ email: "a@x.com" });
  });

  test("a customer without values precedes a user", async () => {
    const header = "customer_id,customer_email,user_email,page_url";
    expect(await read(`${header}\n1,,rep@us.com,/a\n`)).toEqual({ page_url: "/a" });
  });
});
