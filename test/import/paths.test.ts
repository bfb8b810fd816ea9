/** The table of names, and the meaning of a path: exact names, looked up as a whole. */
import { describe, expect, test } from "bun:test";
import { aliases, objects } from "../../src/import/map/fields.ts";
import { normalizeName, splitPath } from "../../src/import/map/names.ts";
import { meaningOfPath } from "../../src/import/map/paths.ts";
import { readPage } from "../../src/import/parse/json-pages.ts";

/** The names of a path, as a column of CSV has them. */
const meaningOf = (name: string) => {
  const names = splitPath([name], () => false);
  return names === null ? null : meaningOfPath(names);
};

/** The field of a path, after the person it belongs to if that is an object or a prefix. */
function told(name: string): string | null {
  const meaning = meaningOf(name);
  if (meaning?.target == null) return null;
  const { path } = meaning.person;
  return path === "" ? meaning.target : `${path}: ${meaning.target}`;
}

test("the table has each name once, as it is compared", () => {
  const names = Object.values(aliases).flat();
  expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([]);
  const all = [...names, ...Object.values(objects).flat()];
  expect(all.filter((name) => normalizeName(name) !== name)).toEqual([]);
});

test("no name of the table has the word of a representative", () => {
  const ofOthers = /owner(?!s?hip|renter|status|$)|agent|salesrep|assigned|createdby|manager/;
  expect(
    Object.values(aliases)
      .flat()
      .filter((name) => ofOthers.test(name)),
  ).toEqual([]);
});

test.each([
  ["First.Name", "first_name"],
  ["Telephone No.", "phone"],
  ["Prénom", "first_name"],
  ["E-Mail-Adresse", "email"],
  ["Société", "company"],
  ["Bundesland", "state"],
  ["Apellidos", "last_name"],
  ["Teléfono", "phone"],
  ["visitor_email", "visitor: email"],
  ["Contact Phone", "contact: phone"],
  ["data.visitor.emails[0].value", "data.visitor: email"],
  ["context.traits.email", "context.traits: email"],
  ["context.page.url", "page_url"],
  ["company.location.city", "city"],
  ["visitor.last_seen_at", "visitor: identified_at"],
  ["Business Email", "email"],
])("%s is %s", (name, field) => {
  expect(told(name)).toBe(field);
});

test.each([
  ...["username", "owner.email", "Corporate Phone", "Business Phone", "Company Phone", "visitor.url", "contact_id"],
  ...[
    "PROFESSIONAL_CITY",
    "My Email",
    "Email Hash",
    "visitor_company_email",
    "page visits ".repeat(8),
    "email".repeat(40),
  ],
])("%s is no field", (name) => {
  expect(told(name)).toBeNull();
});

describe("a list of a document", () => {
  const list = [{ a: 1 }, { a: 2 }];
  const isPage = (document: object) => "items" in (readPage(document, () => false) ?? {});
  const around = (path: string, value = "d@example.com") =>
    path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

  test("may be that of the records under any name but some", () => {
    const names = ["data", "events", "contacts", "my list", "results", "leads"];
    expect(names.filter((name) => !isPage({ [name]: list }))).toEqual([]);
    const others = ["owners", "agents", "Sales Reps", "visits", "pageVisits", "emails", "included", "errors", "links"];
    expect(others.filter((name) => isPage({ [name]: list }))).toEqual([]);
  });

  test("is that of the records only if nothing around it says something of a visitor or a visit", () => {
    const isAround = (path: string) => isPage({ ...Object(around(path)), results: list });
    const ofRecord = ["email", "visitor.phone", "company", "company.name", "city", "page_url", "last_seen_at", "pixel"];
    expect([...ofRecord, "found.email", "found.emails.value"].filter(isAround)).toEqual([]);
    const ofListing = ["name", "url", "page", "timestamp", "created_at", "id", "status", "owner.email", "account.name"];
    expect(ofListing.filter((path) => !isAround(path))).toEqual([]);
    expect(isPage({ url: "/a", contacts: list })).toBe(false);
  });
});
