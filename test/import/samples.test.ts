/** Exports in the styles of vendors, with made-up people: what each becomes. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { anAdmin, readLeads } from "../support/admin.ts";

interface Sample {
  readonly file: string;
  readonly options: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Some of the columns that are listed as not kept. */
  readonly notKept: readonly string[];
}

const samples: readonly Sample[] = [
  {
    file: "audiencelab.csv",
    counts: { imported: 3, moved: 1 },
    options: [],
    notKept: [
      "hem_sha256",
      "UUID",
      "EDID",
      "SHA256_PERSONAL_EMAIL",
      "MOBILE_PHONE_DNC",
      "COMPANY_CITY",
      "COMPANY_PHONE",
    ],
  },
  { file: "audiencelab-flat.csv", counts: { moved: 0 }, options: [], notKept: ["UUID"] },
  {
    file: "retention.csv",
    counts: { moved: 0 },
    options: ["--pixel", "px"],
    notKept: ["address_line_1", "email_domain", "landing_page_domain"],
  },
  {
    file: "midbound.ndjson",
    counts: { moved: 1 },
    options: [],
    notKept: ["data.session.network.city", "data.session.network.region", "data.identity.professional.city"],
  },
  {
    file: "snitcher.ndjson",
    counts: { moved: 0 },
    options: ["--pixel", "px"],
    notKept: ["company.domain", "company.phone", "session.id"],
  },
  {
    file: "happierleads.ndjson",
    counts: { moved: 0 },
    options: ["--pixel", "px"],
    notKept: ["company.website", "pageVisits.duration"],
  },
  // Klaviyo says when a profile was made, and of visits nothing: here the owner takes it for the time.
  {
    file: "klaviyo.csv",
    counts: { moved: 0 },
    options: ["--pixel", "px", "--map", "Created=identified_at"],
    notKept: ["Klaviyo ID", "Email Marketing Consent"],
  },
  { file: "own.csv", counts: { moved: 0 }, options: [], notKept: [] },
  {
    file: "rb2b-style.csv",
    counts: { moved: 0 },
    options: ["--pixel", "px"],
    notKept: ["LinkedIn URL", "Website", "Estimate Employees"],
  },
  {
    file: "unknown.csv",
    counts: { moved: 0 },
    options: [
      "--pixel",
      "px",
      "--map",
      "Who=name,E-Mail (work)=email,Town / City=city,Seen On=identified_at,Where=page_url,Came From=traffic_source",
    ],
    notKept: ["Shoe Size"],
  },
];

const folder = join(import.meta.dir, "samples");

/** The fields of each lead that are not null, oldest first; ids are made from the account, which is another each time. */
const expected = (file: string) =>
  readLeads(readFileSync(join(import.meta.dir, "expected", file.replace(/\.\w+$/, ".ndjson")), "utf8"));

function given({ id: _, ...lead }: Lead): unknown {
  return Object.fromEntries(Object.entries(lead).filter(([, value]) => value !== null));
}

test("every sample has its expected leads", () => {
  expect(readdirSync(folder).toSorted()).toEqual(samples.map(({ file }) => file).toSorted());
});

test.each(samples.map((sample) => [sample.file, sample] as const))(
  "%s becomes the expected leads, and a second import adds none",
  async (file, { options, notKept, counts }) => {
    const admin = anAdmin();
    const importing = () =>
      admin.run("lead", "import", "acme", join(folder, file), "--json", "--create-pixels", ...options);
    const first = await importing();
    const stored = await admin.leads();
    expect<unknown[]>(stored.map(given)).toEqual(expected(file));
    expect({ status: first.status, ...first.json }).toMatchObject({ status: 0, rejected: 0, ...counts });
    const told = /^Not kept: (.*)\.$/m.exec(first.stderr)?.[1]?.split(", ") ?? [];
    expect(told).toEqual(expect.arrayContaining([...notKept]));

    expect((await importing()).json).toMatchObject({ imported: 0, duplicates: stored.length });
    expect(await admin.leads()).toEqual(stored);
  },
);
