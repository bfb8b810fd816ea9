/**
 * Payloads and headers as CRM exports, identity vendors, analytics, and webhooks have them, with made-up people, and
 * the lead of each. To teach the import another name, add it to src/import/map/fields.ts and a payload here.
 */

/** A record of JSON, or the header and one row of CSV; and what is not null of its lead, with its time and pixel if it has any. */
type Row = readonly [what: string, record: object | string, lead: Readonly<Record<string, string>>];

const email = "dana@example.com";
const dana = { name: "Dana Whitfield", email };
const kim = { name: "Kim Reed", email: "kim@vendor.example" };
const reno = { city: "Reno", state: "NV" };
const shop = "https://shop.example.com/";
const pricing = "https://shop.example.com/pricing";
const search = "https://search.example.com/";
const time = "2026-01-31T09:15:00Z";
const at = "2026-01-31T09:15:00.000Z";

const crm: readonly Row[] = [
  [
    "HubSpot: a contact of its API, with properties that have values",
    {
      vid: 101,
      properties: {
        firstname: { value: "Dana" },
        lastname: { value: "Whitfield" },
        email: { value: "dana@example.com" },
        hubspot_owner_id: { value: "9" },
        gender: { value: "F" },
      },
    },
    { ...dana, gender: "F" },
  ],
  [
    "HubSpot: a contact of version 3",
    {
      id: "0d0f2c4e-6a1b-4c3d-8e5f-00112233aabb",
      properties: { firstname: "Dana", lastname: "Whitfield", email, createdate: "2025-11-02T10:00:00Z" },
      createdAt: "2025-11-02T10:00:00Z",
      archived: false,
    },
    dana,
  ],
  [
    "Salesforce: a contact with its account and who created it",
    {
      Id: "003XX0000001",
      Name: "Dana Whitfield",
      Email: "dana@example.com",
      MailingCity: "Reno",
      MailingState: "NV",
      Account: { Name: "Harbor & Pine", Email: "info@harbor.example.com" },
      CreatedBy: { Name: "Kim Reed", Email: "kim@vendor.example" },
      Owner: { Name: "Kim Reed", Email: "kim@vendor.example", Phone: "555-0199" },
    },
    { ...dana, ...reno },
  ],
  [
    "Pipedrive: an export of people",
    "Person - Name,Person - Organization,Person - Email - Work,Person - Phone - Work,Person - Owner,Person - Person created\n" +
      "Dana Whitfield,Harbor & Pine,dana@example.com,619-555-0142,Kim Reed,2025-11-02 10:00:00",
    { ...dana, company: "Harbor & Pine", phone: "6195550142" },
  ],
  [
    "Pipedrive: a person of its API, with lists of values",
    {
      name: "Dana Whitfield",
      email: [{ label: "work", value: "dana@example.com", primary: true }, { value: "d@home.example" }],
      phone: [{ value: "619-555-0142", primary: true }],
      owner_id: { id: 9, name: "Kim Reed", email: "kim@vendor.example" },
      org_id: { name: "Harbor & Pine", address: "1 Pine St" },
    },
    { ...dana, phone: "6195550142" },
  ],
  ["Zoho: a lead of its API", { data: { Full_Name: "Dana Whitfield", Email: "dana@example.com", Owner: kim } }, dana],
  [
    "a CRM whose sales representative has an address",
    "sales_rep_email,sales_rep_name,email,name\nkim@vendor.example,Kim Reed,dana@example.com,Dana Whitfield",
    dana,
  ],
  [
    "a CRM with nobody but the owner of the record",
    { owner: { email: "kim@vendor.example" }, page_url: "/pricing" },
    { page_url: "/pricing" },
  ],
  [
    "Intercom: a user with a custom avatar, next to the place of its IP address",
    {
      type: "user",
      user: {
        email,
        name: "Dana Whitfield",
        avatar: { image_url: "https://img.example.com/d.png" },
        created_at: 1769850000,
      },
      location: { city: "Reno", region: "Nevada", country: "United States" },
      assigned_to: { email: "kim@vendor.example" },
    },
    dana,
  ],
];

const identity: readonly Row[] = [
  [
    "a company with a person: its location is not the visitor's",
    { email, company: { name: "Harbor & Pine", location: { city: "Boise", state: "ID" } } },
    { email, company: "Harbor & Pine" },
  ],
  [
    "an identity API in the style of People Data Labs",
    {
      person: {
        full_name: "Dana Whitfield",
        emails: [{ address: "dana@example.com", type: "personal" }],
        job_company_name: "Harbor & Pine",
      },
      linkedin: { url: "https://social.example.com/d" },
    },
    { ...dana, company: "Harbor & Pine" },
  ],
  [
    "Clearbit: a person whose name is an object",
    { person: { name: { fullName: "Dana Whitfield", givenName: "Dana" }, email } },
    dana,
  ],
  [
    "Clerk: a user whose lists of addresses and numbers have their name once more",
    {
      data: {
        name: "Dana Whitfield",
        email_addresses: [{ id: "idn_1", email_address: "dana@example.com" }],
        phone_numbers: [{ id: "idn_2", phone_number: "+16195550142" }],
      },
    },
    { ...dana, phone: "16195550142" },
  ],
  [
    "a visitor with the time of the last visit and a profile link",
    { visitor: { ...dana, last_seen_at: time, url: "https://social.example.com/d", created_at: "2020-01-01" } },
    { ...dana, at },
  ],
];

const analytics: readonly Row[] = [
  [
    "Segment: identify",
    {
      type: "identify",
      userId: "u1",
      traits: { email, firstName: "Dana", lastName: "Whitfield", createdAt: "2020-01-01T00:00:00Z", address: reno },
      context: { ip: "192.0.2.1", page: { url: pricing, referrer: search, title: "Pricing" }, userAgent: "x" },
      timestamp: time,
    },
    { ...dana, at, ...reno, page_url: pricing, referrer: search },
  ],
  [
    "Segment: a page view with traits in its context",
    {
      type: "page",
      properties: { url: shop, referrer: search },
      context: { traits: dana, campaign: { source: "x", name: "Spring" } },
      timestamp: time,
    },
    { ...dana, at, page_url: shop, referrer: search },
  ],
  [
    "PostHog: an event with its person",
    {
      event: "$identify",
      timestamp: time,
      properties: { $current_url: shop, $referrer: search, $browser: "Firefox" },
      person: { properties: dana },
    },
    { ...dana, at, page_url: shop, referrer: search },
  ],
  [
    "Google Analytics: a row of BigQuery, with microseconds",
    {
      event_date: "20260131",
      event_timestamp: 1769850900000000,
      user_properties: { email },
      geo: { city: "Reno", region: "Nevada", country: "United States" },
      device: { category: "desktop", browser: { name: "Chrome" } },
    },
    { email, at },
  ],
  [
    "Mixpanel: a profile",
    { $distinct_id: "u1", $properties: { $email: email, $name: "Dana Whitfield", $city: "Reno", $region: "Nevada" } },
    { ...dana, ...reno },
  ],
  ["Elasticsearch: a hit", { _index: "visits", _id: "1", _source: { ...dana, "@timestamp": time } }, { ...dana, at }],
  [
    "a session with the visitor in it, and a device that has a name",
    { session: { started_at: time, page: { url: "/a" }, device: { name: "Phone" } }, visitor: dana },
    { ...dana, at, page_url: "/a" },
  ],
];

const webhooks: readonly Row[] = [
  [
    "a payload in a wrapper",
    { event: "lead.identified", payload: { lead: { ...dana, page_url: "/a" } } },
    { ...dana, page_url: "/a" },
  ],
  ["a payload in wrappers in wrappers", { body: { data: { attributes: dana } } }, dana],
  [
    "a node of GraphQL",
    { node: { visitor: dana, visit: { url: "/a", time: 1769850900 } } },
    { ...dana, at, page_url: "/a" },
  ],
  [
    "a form, with its sender and its assigned agent",
    { sender: { email: "x@vendor.example" }, agent: kim, contact: dana, account: kim, created_by: kim },
    dana,
  ],
  [
    "the record itself before the objects in it",
    { visitor: { email: "far@example.com" }, email, contact: { name: "Lee Ortiz" } },
    { email },
  ],
  [
    "the more likely of two people, whatever their order, and the name of something else",
    { contact: { email: "other@example.com" }, person: { email }, name: "Pricing" },
    { email },
  ],
  [
    "a picture that has a URL",
    { ...dana, avatar: { url: "https://img.example.com/d.png" }, linkedin_url: "https://social.example.com/d" },
    dana,
  ],
  [
    "a table made of JSON, with dots in its header",
    "data.visitor.email,data.visitor.name,data.owner.email,avatar.url\n" +
      "dana@example.com,Dana Whitfield,kim@vendor.example,/d.png",
    dana,
  ],
  [
    "an account's time, and an account's address",
    "Email,Full Name,Account Created At,Account Email\n" +
      "dana@example.com,Dana Whitfield,2026-01-31,a@vendor.example",
    dana,
  ],
];

const visits: readonly Row[] = [
  [
    "a visit in a visitor, by names that say so",
    { visitor: { ...dana, identified_at: at, page_url: "/a", pixel_id: "px_blog", referrer: "/" } },
    { ...dana, at, page_url: "/a", pixel: "px_blog", referrer: "/" },
  ],
  [
    "a visit in a visitor, after the values of the record itself",
    {
      visitor: { ...dana, identified_at: "2020-01-01", page_url: "/a", pixel_id: "px_blog" },
      at,
      url: "/b",
      pixel: "px",
    },
    { ...dana, at, page_url: "/b", pixel: "px" },
  ],
  [
    "names of pages, of which the first has a URL, and of a person in a list",
    { contacts: [{ name: "Dana Whitfield" }], pages: [{ name: "A", url: "/a", title: "B" }] },
    { name: "Dana Whitfield", page_url: "/a" },
  ],
  [
    "several visits, of which the first has no page",
    {
      email,
      pageVisits: [
        { url: null, referrer: search },
        { url: pricing, referrer: shop },
      ],
    },
    { email, referrer: search },
  ],
  ["a visit with a time named at", { email, visits: [{ url: "/a", at: time }] }, { email, page_url: "/a", at }],
  ["an event with a time named at", { email, event: { at: time } }, { email, at }],
  ["a person and an owner with a time named at", { email, person: { at: time }, owner: { at: time } }, { email }],
];

const names: readonly Row[] = [
  [
    "AudienceLab: the name of a person whom a skip trace found",
    "FIRST_NAME,LAST_NAME,PERSONAL_EMAIL,SKIPTRACE_NAME\nDana,Whitfield,dana@example.com,Lee Ortiz",
    dana,
  ],
  [
    "a first and a last name with a shorter path than a full name",
    { first_name: "Dana", last_name: "Whitfield", contact: { name: "Lee Ortiz", email } },
    { name: "Dana Whitfield" },
  ],
  [
    "the first name of one person and the last name of another",
    { person: { first_name: "Dana", last_name: "" }, contact: { first_name: "Lee", last_name: "Ortiz" } },
    { name: "Dana" },
  ],
  [
    "one half of a name next to both halves of another person",
    { first_name: "Dana", visitor: { first_name: "Lee", last_name: "Ortiz" }, contact: { last_name: "Smith" } },
    { name: "Dana" },
  ],
  [
    "several people, of whom nobody is the visitor",
    { company: { name: "Harbor" }, contacts: [{ first_name: "Dana", last_name: null, email: null }, kim] },
    { company: "Harbor" },
  ],
  [
    "a page about the person",
    "Email,Name,Profile Page,Personal Page\ndana@example.com,Dana Whitfield,https://social.example.com/d,/me",
    dana,
  ],
];

const places: readonly Row[] = [
  [
    "the place of an IP address",
    { email, network: { city: "Ashburn", region: "VA" }, ip_location: { city: "Ashburn", region: "VA" } },
    { email },
  ],
  [
    "an address whose parts are objects with a code or a name",
    { email, address: { city: { name: "Reno" }, state: { code: "NV" }, country: { name: "United States" } } },
    { email, ...reno },
  ],
  ["a country with a code and a name", { email, state: "GA", country: { code: "GE", name: "Georgia" } }, { email }],
  [
    "a company abroad, and nobody",
    { page_url: "/a", company: { location: { region: "Georgia", country: "Georgia" } } },
    { page_url: "/a" },
  ],
  [
    "a person next to a company abroad",
    { email, state: "GA", company: { location: { region: "Georgia", country: "Georgia" } } },
    { email, state: "GA" },
  ],
  [
    "nobody, abroad, next to a company",
    { page_url: "/a", country: "Brazil", company: { state: "TX" } },
    { page_url: "/a", state: "TX" },
  ],
];

const others: readonly Row[] = [
  [
    "a company's phone and website",
    { email, company: { phone: "555-0199", website: "https://harbor.example.com", url: "x", business: "Wood" } },
    { email },
  ],
  [
    "a company's phone, address, and city in flat names of a visitor",
    { email, visitor_company_phone: "6195550123", visitor_company_email: kim.email, visitor_company_city: "Reno" },
    { email },
  ],
  ["a person of a company, and nobody else", { page_url: "/a", company: { contact: kim } }, { page_url: "/a" }],
  [
    "the name of a page or a campaign",
    { email, page: { name: "Pricing" }, campaign: { name: "Spring", source: "x" } },
    { email },
  ],
  ["hashes of an address", { email, email_sha256: "ab", hem: { sha256: "cd" }, emails: [{ md5: "ef" }] }, { email }],
];

const flattened: readonly Row[] = [
  [
    "lists of which the names are irregular plurals",
    { page_url: "/a", identities: [{ ...dana, addresses: [reno] }], businesses: [{ name: "Harbor & Pine" }] },
    { ...dana, page_url: "/a", ...reno, company: "Harbor & Pine" },
  ],
  [
    "a table made of JSON, with the first and the second of a list",
    "contact.emails.0.value,contact.emails.1.value,visits[0].url,visits[1].url\n" +
      "dana@example.com,d@home.example,/a,/b",
    { email, page_url: "/a" },
  ],
];

export const payloads = [
  ...crm,
  ...identity,
  ...analytics,
  ...webhooks,
  ...visits,
  ...names,
  ...places,
  ...others,
  ...flattened,
].map(([what, record, lead]) => ({ what, record, lead }));

export type Payload = (typeof payloads)[number];
