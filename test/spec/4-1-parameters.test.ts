/** §4.1 rule 3: what is refused as a parameter, and with which code. What is accepted is in 4-1-leads. */
import { describe, expect, test } from "bun:test";
import { namesOf } from "../../src/contract/names.ts";
import type { LeadParameter } from "../../src/contract/parameters.ts";
import { someLeads } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

async function expectRefusal(code: string, inMessage: string, ...queries: readonly string[]) {
  const { as, aKey } = await serve({ leads: someLeads(1) });
  const client = as(aKey());
  for (const query of queries) {
    const answer = await client.get(`/leads?${query}`);
    expect([query, answer.status, answer.body.error?.code]).toEqual([query, 400, code]);
    expect(answer.body.error.message).toContain(inMessage);
  }
}

const malformedTimes = [
  ...["", "yesterday", "2026-01-31", "1769850900", "2026-01-31T09:15Z", "2026-01-31T09:15:00", "2026-1-31T09:15:00Z"],
  ...["2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-10T00:00:00Z"],
  ...["2026-01-31T24:00:00Z", "2026-01-31T09:60:00Z", "2026-12-31T23:59:60Z", "2026-01-31T09:15:00.Z"],
  ...["2026-01-31T09:15:00%2B24:00", "2026-01-31T09:15:00%2B01:60", "2026-01-31T09:15:00%2B01"],
  ...["2026-01-31%2009:15:00Z", "2026-01-31T09:15:00++01:00", "2026-01-31T09:15:00%2B2400"],
  ...["2026-01-31T09:15:00%2B01:0", "2026-01-31T09:15:00Z%20", "%202026-01-31T09:15:00Z"],
  ...["0000-12-31T23:59:59Z", "0001-01-01T00:00:00%2B00:01", "9999-12-31T23:59:59-00:01", "10000-01-01T00:00:00Z"],
  ...["2026-01-31T09:15:00,5Z", "2026-01-31T09:15:00.5", "2026-01-31T09:15:00Z%00", "%FF", "%E0%A4%A", "null"],
  ...["%EF%BC%92026-01-31T09:15:00Z", "2026-01-31T09:15:00Z%0A", "2026-W05-6T09:15:00Z", "-2026-01-31T09:15:00Z"],
];

interface Rule {
  /** What the parameter takes, for the name of the test. */
  readonly takes: string;
  /** Values that it refuses, an empty one among them. */
  readonly refused: readonly string[];
}

const time = "an RFC 3339 date-time with an offset that a calendar and a clock have, in the years 0001 to 9999";

const rules: Readonly<Record<LeadParameter, Rule>> = {
  limit: {
    takes: "the digits of a number from 1 to 100, without a leading zero",
    refused: [
      ...["0", "101", "-1", "1e1", "0x10", "", "+5", "%2B5", "05", "5.0", "5.", "5,0", "%205", "5%20", "ten", "NaN"],
      ...["Infinity", "1000", "99999999999999999999", "%00", "5%00", "%D9%A5", "%EF%BC%95", "null", "true", "%FF", "%"],
    ],
  },
  before: { takes: time, refused: malformedTimes },
  since: { takes: time, refused: malformedTimes },
  pixel_id: { takes: "text in UTF-8 without a NUL", refused: ["", "%00", "px%00", "%FF", "%C3%28"] },
  state: {
    takes: "two letters of ASCII",
    refused: [
      ...["", "C", "CAL", "C1", "12", "%20CA", "CA%20", "California", "%C3%89A", "C%00", "%FF"],
      ...["K%E2%84%AA", "%C5%BFs"],
    ],
  },
  city: {
    takes: "1 to 200 characters, not counting the spaces around them",
    refused: [
      ...["", "%20", "+++", "%00", "Reno%00", "%FF", "Ren%C3"],
      ...["x", "%C3%A9", "%F0%9F%A6%8A"].map((letter) => letter.repeat(201)),
    ],
  },
  has_email: {
    takes: "true or false, in lower case",
    refused: ["", "TRUE", "True", "1", "0", "yes", "on", "false%20", "%20true", "null", "%00", "%FF"],
  },
};

test.each(namesOf(rules).map((name) => ({ name, ...rules[name], code: codeOf(name) })))(
  "$name takes $takes; anything else, an empty value too, is refused with $code, and the message names it",
  ({ name, refused, code }) => expectRefusal(code, name, name, ...refused.map((value) => `${name}=${value}`)),
);

function codeOf(name: LeadParameter): string {
  return name === "before" ? "invalid_cursor" : "invalid_parameter";
}

test.each([
  ["limit=5&limit=5", "invalid_parameter", "limit"],
  ["state=CA&city=Reno&state=NV", "invalid_parameter", "state"],
  ["has_email=true&has_email=", "invalid_parameter", "has_email"],
  ["before=2026-01-31T09:15:00Z&before=2026-01-31T09:15:00Z", "invalid_cursor", "before"],
  ["limit=5&%6Cimit=5", "invalid_parameter", "limit"],
  ["city=a&before=x&before=y&city=b", "invalid_parameter", "city"],
  ["before=x&city=a&city=b&before=y", "invalid_cursor", "before"],
])("a parameter may be sent once: %s is refused with %s for %s, the first name that is repeated", (query, code, name) =>
  expectRefusal(code, `${name} was sent more than once`, query),
);

describe("an unknown parameter", () => {
  test.each([
    ["pixelid=px", "did you mean pixel_id?"],
    ["pixel=px", "did you mean pixel_id?"],
    ["Limit=5", "did you mean limit?"],
    ["limits=5", "did you mean limit?"],
    ["limti=5", "did you mean limit?"],
    ["befor=2026-01-31T09:15:00Z", "did you mean before?"],
    ["hasEmail=true", "did you mean has_email?"],
    ["State=CA", "did you mean state?"],
  ])("rejects %s with invalid_parameter and says %s", (query, hint) => expectRefusal("invalid_parameter", hint, query));

  test.each([
    ...["page=2", "offset=10", "colour=red", "=5", "%FF=1", "limit%5B%5D=5", "__proto__=1", "constructor=1", "after"],
  ])("rejects %s with invalid_parameter, and suggests nothing", async (query) => {
    const { as, aKey } = await serve();
    const { status, body } = await as(aKey()).get(`/leads?${query}`);
    expect([status, body.error.code]).toEqual([400, "invalid_parameter"]);
    expect(body.error.message).not.toContain("did you mean");
  });

  test("the first of two unknown parameters is named", () =>
    expectRefusal("invalid_parameter", "colour", "colour=red&size=5"));

  test.each(["/pixels", "/usage"])("%s takes no parameters, and rejects every one", async (path) => {
    const { as, aKey } = await serve();
    const client = as(aKey());
    for (const query of ["limit=5", "since=2026-01-31T09:15:00Z", "colour", "=", "state=CA&state=CA"]) {
      const { status, body } = await client.get(`${path}?${query}`);
      expect([query, status, body.error.code]).toEqual([query, 400, "invalid_parameter"]);
    }
    for (const query of ["", "&", "&&"]) expect((await client.get(`${path}?${query}`)).status).toBe(200);
  });
});
