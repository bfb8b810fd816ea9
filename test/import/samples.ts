/** The samples: how each is imported, and what is said of it. What each becomes lies in expected/. */

export interface Sample {
  readonly file: string;
  readonly options: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Columns that are told as not kept, among others. */
  readonly notKept: readonly string[];
}

export const samples: readonly Sample[] = [
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
