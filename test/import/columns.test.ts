/** Which column is which: what --map says goes first, and what became of each column is told. */
import { describe, expect, test } from "bun:test";
import { readMapping } from "../../src/import/map/mapping.ts";
import { reportOn } from "../../src/import/map/report.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { leadsOf, readText, shown } from "./reading.ts";

const fieldsOf = async (header: string, map: string | null = null) => {
  const { columns } = await readText(`${header}\n`, map);
  return Object.fromEntries(
    Object.entries(reportOn(columns).matched).map(([target, names]) => [target, names.join(" then ")]),
  );
};

test("names are listed as they are preferred, and both halves of one as a pair", async () => {
  const namesOf = async (header: string, map: string | null = null) =>
    reportOn((await readText(`${header}\n`, map)).columns).names;
  expect(await namesOf("first_name,last_name,contact_name")).toEqual(["first_name + last_name", "contact_name"]);
  expect(await namesOf("first_name,contact_last_name")).toEqual(["first_name + contact_last_name"]);
  expect(await namesOf("visitor_first_name,visitor_last_name,Nachname", "Nachname=last_name")).toEqual([
    "visitor_first_name + Nachname or visitor_last_name",
  ]);
});

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
    const { columns } = await readText("email,phone,Owner Email\n", "phone=-");
    expect(reportOn(columns).maps).toEqual(["--map 'Owner Email=email'"]);
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

describe("the creation time of a profile", () => {
  test("is not the time of the visit if the record has only a person", async () => {
    const { columns } = await readText("Email,First Name,Last Name,City,Created\n");
    expect(reportOn(columns).unmatched).toEqual(["Created"]);
    expect(reportOn(columns).remark).toContain("--map");
  });

  test("is the time of the visit with a page or with --map", async () => {
    expect(await fieldsOf("Email,First Name,Last Name,City,URL,Created")).toMatchObject({ identified_at: "Created" });
    const ordered = await fieldsOf("Email,First Name,Last Name,City,Created", "Created=identified_at");
    expect(ordered).toMatchObject({ identified_at: "Created" });
  });
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
