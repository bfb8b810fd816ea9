/** Exports in the styles of vendors, with made-up people: what each becomes. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { anAdmin, readLeads } from "../support/admin.ts";

/** Each file with its options, the leads that are moved, and some of the columns that are listed as not kept. */
const samples: readonly (readonly [file: string, options: readonly string[], moved: number, notKept: string])[] = [
  ["audiencelab.csv", [], 1, "hem_sha256,UUID,EDID,SHA256_PERSONAL_EMAIL,MOBILE_PHONE_DNC,COMPANY_CITY,COMPANY_PHONE"],
  ["audiencelab-flat.csv", [], 0, "UUID"],
  ["retention.csv", ["--pixel", "px"], 0, "address_line_1,email_domain,landing_page_domain"],
  ["midbound.ndjson", [], 1, "data.session.network.city,data.session.network.region,data.identity.professional.city"],
  ["snitcher.ndjson", ["--pixel", "px"], 0, "company.domain,company.phone,session.id"],
  ["happierleads.ndjson", ["--pixel", "px"], 0, "company.website,pageVisits.duration"],
  // Klaviyo says when a profile was made, and of visits nothing: here the owner takes it for the time.
  ["klaviyo.csv", ["--pixel", "px", "--map", "Created=identified_at"], 0, "Klaviyo ID,Email Marketing Consent"],
  ["own.csv", [], 0, ""],
  ["rb2b-style.csv", ["--pixel", "px"], 0, "LinkedIn URL,Website,Estimate Employees"],
  [
    "unknown.csv",
    [
      "--pixel",
      "px",
      "--map",
      "Who=name,E-Mail (work)=email,Town / City=city,Seen On=identified_at,Where=page_url,Came From=traffic_source",
    ],
    0,
    "Shoe Size",
  ],
];

const folder = join(import.meta.dir, "samples");

/** The fields of each lead that are not null, oldest first; ids are made from the account, which is another each time. */
const expected = (file: string) =>
  readLeads(readFileSync(join(import.meta.dir, "expected", file.replace(/\.\w+$/, ".ndjson")), "utf8"));

function given({ id: _, ...lead }: Lead): unknown {
  return Object.fromEntries(Object.entries(lead).filter(([, value]) => value !== null));
}

test("every sample has its expected leads", () => {
  expect(readdirSync(folder).toSorted()).toEqual(samples.map(([file]) => file).toSorted());
});

test.each(samples)(
  "%s becomes the expected leads, and a second import adds none",
  async (file, options, moved, notKept) => {
    const admin = anAdmin();
    const importing = () =>
      admin.run("lead", "import", "acme", join(folder, file), "--json", "--create-pixels", ...options);
    const first = await importing();
    const stored = await admin.leads();
    expect<unknown[]>(stored.map(given)).toEqual(expected(file));
    expect({ status: first.status, ...first.json }).toMatchObject({
      status: 0,
      rejected: 0,
      imported: stored.length,
      moved,
    });
    const told = /^Not kept: (.*)\.$/m.exec(first.stderr)?.[1]?.split(", ") ?? [];
    expect(told).toEqual(expect.arrayContaining(notKept.split(",").filter((name) => name !== "")));

    expect((await importing()).json).toMatchObject({ imported: 0, duplicates: stored.length });
    expect(await admin.leads()).toEqual(stored);
  },
);
