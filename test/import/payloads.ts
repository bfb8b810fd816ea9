/**
 * Payloads and headers as CRM exports, identity vendors, analytics, and webhooks have them, with made-up people, and
 * the lead of each. To teach the import another name, add it to src/import/map/fields.ts and a payload here.
 */

export interface Payload {
  readonly what: string;
  /** One record of JSON; or the header and one row of CSV. */
  readonly record: Readonly<Record<string, unknown>> | readonly [header: string, row: string];
  /** The fields of the lead that are not null, and its time and pixel if it has any. */
  readonly lead: Readonly<Record<string, string>>;
}

const email = "dana@example.com";
const dana = { name: "Dana Whitfield", email };
const kim = { name: "Kim Reed", email: "kim@vendor.example" };
const reno = { city: "Reno", state: "NV" };
const shop = "https://shop.example.com/";
const pricing = "https://shop.example.com/pricing";
const search = "https://search.example.com/";
const time = "2026-01-31T09:15:00Z";
const at = "2026-01-31T09:15:00.000Z";

const crm: readonly Payload[] = [
  {
    what: "HubSpot: an export of contacts, whose owner is somebody else",
    record: [
      "Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Contact owner email,Company Name,City,State/Region,Country/Region,Original Source,Create Date,Owner Email",
      "101,Dana,Whitfield,dana@example.com,(619) 555-0142,Kim Reed,kim@vendor.example,Harbor & Pine,Reno,Nevada,United States,ORGANIC_SEARCH,2025-11-02 10:00,kim@vendor.example",
    ],
    lead: { ...dana, phone: "6195550142", company: "Harbor & Pine", ...reno, traffic_source: "ORGANIC_SEARCH" },
  },
  {
    what: "HubSpot: a contact of its API, with properties that have values",
    record: {
      vid: 101,
      properties: {
        firstname: { value: "Dana" },
        lastname: { value: "Whitfield" },
        email: { value: "dana@example.com" },
        hubspot_owner_id: { value: "9" },
        gender: { value: "F" },
      },
    },
    lead: { ...dana, gender: "F" },
  },
  {
    what: "HubSpot: a contact of version 3",
    record: {
      id: "0d0f2c4e-6a1b-4c3d-8e5f-00112233aabb",
      properties: { firstname: "Dana", lastname: "Whitfield", email, createdate: "2025-11-02T10:00:00Z" },
      createdAt: "2025-11-02T10:00:00Z",
      archived: false,
    },
    lead: { ...dana, at: "2025-11-02T10:00:00.000Z" },
  },
  {
    what: "Salesforce: a report on leads, in which a person of the company owns the lead",
    record: [
      "Lead Owner,Owner Email,First Name,Last Name,Title,Company / Account,Email,Phone,Lead Source,City,State/Province,Country,Created Date",
      "Kim Reed,kim@vendor.example,Dana,Whitfield,Buyer,Harbor & Pine,dana@example.com,619-555-0142,Web,Reno,NV,US,1/31/2026",
    ],
    lead: { ...dana, phone: "6195550142", company: "Harbor & Pine", ...reno, traffic_source: "Web" },
  },
  {
    what: "Salesforce: a contact with its account and who created it",
    record: {
      Id: "003XX0000001",
      Name: "Dana Whitfield",
      Email: "dana@example.com",
      MailingCity: "Reno",
      MailingState: "NV",
      Account: { Name: "Harbor & Pine", Email: "info@harbor.example.com" },
      CreatedBy: { Name: "Kim Reed", Email: "kim@vendor.example" },
      Owner: { Name: "Kim Reed", Email: "kim@vendor.example", Phone: "555-0199" },
    },
    lead: { ...dana, ...reno },
  },
  {
    what: "Pipedrive: an export of people",
    record: [
      "Person - Name,Person - Organization,Person - Email - Work,Person - Phone - Work,Person - Owner,Person - Person created",
      "Dana Whitfield,Harbor & Pine,dana@example.com,619-555-0142,Kim Reed,2025-11-02 10:00:00",
    ],
    lead: { ...dana, company: "Harbor & Pine", phone: "6195550142" },
  },
  {
    what: "Pipedrive: a person of its API, with lists of values",
    record: {
      name: "Dana Whitfield",
      email: [{ label: "work", value: "dana@example.com", primary: true }, { value: "d@home.example" }],
      phone: [{ value: "619-555-0142", primary: true }],
      owner_id: { id: 9, name: "Kim Reed", email: "kim@vendor.example" },
      org_id: { name: "Harbor & Pine", address: "1 Pine St" },
    },
    lead: { ...dana, phone: "6195550142" },
  },
  {
    what: "Zoho: an export of leads",
    record: [
      "Lead Owner,Lead Owner.email,Company,First Name,Last Name,Email,Mobile,Lead Source,City,State,Created By.name,Modified Time",
      "Kim Reed,kim@vendor.example,Harbor & Pine,Dana,Whitfield,dana@example.com,6195550142,Ads,Reno,NV,Kim Reed,2026-01-31 10:00",
    ],
    lead: { ...dana, company: "Harbor & Pine", phone: "6195550142", traffic_source: "Ads", ...reno },
  },
  {
    what: "Zoho: a lead of its API",
    record: {
      data: { Full_Name: "Dana Whitfield", Email: "dana@example.com", Owner: kim },
    },
    lead: dana,
  },
  {
    what: "a CRM whose sales representative has an address",
    record: [
      "sales_rep_email,sales_rep_name,email,name",
      "kim@vendor.example,Kim Reed,dana@example.com,Dana Whitfield",
    ],
    lead: dana,
  },
  {
    what: "a CRM with nobody but the owner of the record",
    record: { owner: { email: "kim@vendor.example" }, page_url: "/pricing" },
    lead: { page_url: "/pricing" },
  },
  {
    what: "Intercom: a user with a custom avatar and location",
    record: {
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
    lead: { ...dana, ...reno },
  },
];

const identity: readonly Payload[] = [
  {
    what: "AudienceLab: an event with the person in resolution",
    record: {
      pixel_id: "7c6a1f0e-59a2-4a53-9f3f-3f2f9a1d2b11",
      event_timestamp: time,
      full_url: pricing,
      referrer_url: search,
      resolution: {
        FIRST_NAME: "Dana",
        LAST_NAME: "Whitfield",
        PERSONAL_EMAILS: "dana@example.com, dana.w@example.com",
        MOBILE_PHONE: "+16195550142, +16195550143",
        PERSONAL_CITY: "San Diego",
        PERSONAL_STATE: "CA",
        COMPANY_NAME: "Harbor & Pine",
        COMPANY_CITY: "Boise",
        PROFESSIONAL_CITY: "Boise",
        UUID: "0000a1b2c3d4e5f60718293a4b",
        MARRIED: "Y",
      },
    },
    lead: {
      ...dana,
      at,
      pixel: "7c6a1f0e-59a2-4a53-9f3f-3f2f9a1d2b11",
      phone: "16195550142",
      city: "San Diego",
      state: "CA",
      company: "Harbor & Pine",
      marital_status: "Y",
      page_url: pricing,
      referrer: search,
    },
  },
  {
    what: "a company with a person: its location is not the visitor's",
    record: { email, company: { name: "Harbor & Pine", location: { city: "Boise", state: "ID" } } },
    lead: { email, company: "Harbor & Pine" },
  },
  {
    what: "RB2B: a webhook with a link to a profile",
    record: {
      "LinkedIn URL": "https://social.example.com/d",
      "First Name": "Dana",
      "Last Name": "Whitfield",
      "Business Email": "dana@example.com",
      "Captured URL": shop,
      "Seen At": time,
      Referrer: search,
    },
    lead: { ...dana, at, page_url: shop, referrer: search },
  },
  {
    what: "an identity API in the style of People Data Labs",
    record: {
      person: {
        full_name: "Dana Whitfield",
        emails: [{ address: "dana@example.com", type: "personal" }],
        job_company_name: "Harbor & Pine",
      },
      linkedin: { url: "https://social.example.com/d" },
    },
    lead: { ...dana, company: "Harbor & Pine" },
  },
  {
    what: "Clearbit: a person whose name is an object",
    record: { person: { name: { fullName: "Dana Whitfield", givenName: "Dana" }, email } },
    lead: dana,
  },
  {
    what: "Clerk: a user whose lists of addresses and numbers have their name once more",
    record: {
      data: {
        name: "Dana Whitfield",
        email_addresses: [{ id: "idn_1", email_address: "dana@example.com" }],
        phone_numbers: [{ id: "idn_2", phone_number: "+16195550142" }],
      },
    },
    lead: { ...dana, phone: "16195550142" },
  },
  {
    what: "a visitor with whoever was seen last",
    record: {
      visitor: { ...dana, last_seen_at: time, url: "https://social.example.com/d", created_at: "2020-01-01" },
    },
    lead: { ...dana, at },
  },
];

const analytics: readonly Payload[] = [
  {
    what: "Segment: identify",
    record: {
      type: "identify",
      userId: "u1",
      traits: { email, firstName: "Dana", lastName: "Whitfield", createdAt: "2020-01-01T00:00:00Z", address: reno },
      context: {
        ip: "192.0.2.1",
        page: { url: pricing, referrer: search, title: "Pricing" },
        userAgent: "x",
      },
      timestamp: time,
    },
    lead: { ...dana, at, ...reno, page_url: pricing, referrer: search },
  },
  {
    what: "Segment: a page view with traits in its context",
    record: {
      type: "page",
      properties: { url: shop, referrer: search },
      context: {
        traits: dana,
        campaign: { source: "x", name: "Spring" },
      },
      timestamp: time,
    },
    lead: { ...dana, at, page_url: shop, referrer: search },
  },
  {
    what: "PostHog: an event with its person",
    record: {
      event: "$identify",
      timestamp: time,
      properties: { $current_url: shop, $referrer: search, $browser: "Firefox" },
      person: { properties: dana },
    },
    lead: { ...dana, at, page_url: shop, referrer: search },
  },
  {
    what: "Google Analytics: a row of BigQuery, with microseconds",
    record: {
      event_date: "20260131",
      event_timestamp: 1769850900000000,
      user_properties: { email },
      geo: { city: "Reno", region: "Nevada", country: "United States" },
      device: { category: "desktop", browser: { name: "Chrome" } },
    },
    lead: { email, at, ...reno },
  },
  {
    what: "Amplitude: an event",
    record: {
      event_type: "view",
      event_time: "2026-01-31 09:15:00.000000",
      user_properties: dana,
      device_id: "d1",
      library: { name: "x" },
    },
    lead: { ...dana, at },
  },
  {
    what: "Mixpanel: a profile",
    record: {
      $distinct_id: "u1",
      $properties: { $email: email, $name: "Dana Whitfield", $city: "Reno", $region: "Nevada" },
    },
    lead: { ...dana, ...reno },
  },
  {
    what: "Elasticsearch: a hit",
    record: { _index: "visits", _id: "1", _source: { ...dana, "@timestamp": time } },
    lead: { ...dana, at },
  },
  {
    what: "a session with the visitor in it, and a device that has a name",
    record: {
      session: { started_at: time, page: { url: "/a" }, device: { name: "Phone" } },
      visitor: dana,
    },
    lead: { ...dana, at, page_url: "/a" },
  },
];

const webhooks: readonly Payload[] = [
  {
    what: "a payload in a wrapper",
    record: { event: "lead.identified", payload: { lead: { ...dana, page_url: "/a" } } },
    lead: { ...dana, page_url: "/a" },
  },
  { what: "a payload in wrappers in wrappers", record: { body: { data: { attributes: dana } } }, lead: dana },
  {
    what: "a node of GraphQL",
    record: { node: { visitor: dana, visit: { url: "/a", time: 1769850900 } } },
    lead: { ...dana, at, page_url: "/a" },
  },
  {
    what: "a form, with whoever sent it and whoever is to answer",
    record: { sender: { email: "x@vendor.example" }, agent: { name: "Kim" }, contact: dana },
    lead: dana,
  },
  {
    what: "a customer with an account manager",
    record: { customer: dana, account: { name: "Acme", email: "a@vendor.example" }, created_by: { name: "Kim" } },
    lead: dana,
  },
  {
    what: "the shortest path first",
    record: { visitor: { email: "far@example.com" }, email, contact: { name: "Dana Whitfield" } },
    lead: dana,
  },
  {
    what: "the first in the record of two at the same rank",
    record: { person: { email }, contact: { email: "other@example.com" }, name: "Dana Whitfield" },
    lead: dana,
  },
  {
    what: "a picture that has a URL",
    record: { ...dana, avatar: { url: "https://img.example.com/d.png" }, linkedin_url: "https://social.example.com/d" },
    lead: dana,
  },
  {
    what: "a table made of JSON, with dots in its header",
    record: [
      "data.visitor.email,data.visitor.name,data.owner.email,avatar.url",
      "dana@example.com,Dana Whitfield,kim@vendor.example,/d.png",
    ],
    lead: dana,
  },
  {
    what: "an account's time, and an account's address",
    record: [
      "Email,Full Name,Account Created At,Account Email",
      "dana@example.com,Dana Whitfield,2026-01-31,a@vendor.example",
    ],
    lead: dana,
  },
];

const visits: readonly Payload[] = [
  {
    what: "a visit in a visitor, by names that say so",
    record: { visitor: { ...dana, identified_at: at, page_url: "/a", pixel_id: "px_blog", referrer: "/" } },
    lead: { ...dana, at, page_url: "/a", pixel: "px_blog", referrer: "/" },
  },
  {
    what: "a visit in a visitor, after the values of the record itself",
    record: {
      visitor: { ...dana, identified_at: "2020-01-01", page_url: "/a", pixel_id: "px_blog" },
      at,
      url: "/b",
      pixel: "px",
    },
    lead: { ...dana, at, page_url: "/b", pixel: "px" },
  },
  {
    what: "names of pages, of which the first has a URL, and of a person in a list",
    record: { contacts: [{ name: "Dana Whitfield" }], pages: [{ name: "A", url: "/a", title: "B" }] },
    lead: { name: "Dana Whitfield", page_url: "/a" },
  },
];

const names: readonly Payload[] = [
  {
    what: "AudienceLab: the name of whoever a skip trace found",
    record: ["FIRST_NAME,LAST_NAME,PERSONAL_EMAIL,SKIPTRACE_NAME", "Dana,Whitfield,dana@example.com,Lee Ortiz"],
    lead: dana,
  },
  {
    what: "a first and a last name with a shorter path than a full name",
    record: { first_name: "Dana", last_name: "Whitfield", contact: { name: "Lee Ortiz", email } },
    lead: dana,
  },
  {
    what: "the first name of one person and the last name of another",
    record: { person: { first_name: "Dana", last_name: "" }, contact: { first_name: "Lee", last_name: "Ortiz" } },
    lead: { name: "Dana" },
  },
  {
    what: "one half of a name next to both halves of another person",
    record: {
      first_name: "Dana",
      visitor: { first_name: "Lee", last_name: "Ortiz" },
      contact: { last_name: "Smith" },
    },
    lead: { name: "Dana" },
  },
  {
    what: "a page about the person",
    record: [
      "Email,Name,Profile Page,Personal Page",
      "dana@example.com,Dana Whitfield,https://social.example.com/d,/me",
    ],
    lead: dana,
  },
];

const flattened: readonly Payload[] = [
  {
    what: "lists of which the names are irregular plurals",
    record: {
      page_url: "/a",
      identities: [{ ...dana, addresses: [reno] }],
      businesses: [{ name: "Harbor & Pine" }],
    },
    lead: { ...dana, page_url: "/a", ...reno, company: "Harbor & Pine" },
  },
  {
    what: "a table made of JSON, with the first and the second of a list",
    record: [
      "contact.emails.0.value,contact.emails.1.value,visits[0].url,visits[1].url",
      "dana@example.com,d@home.example,/a,/b",
    ],
    lead: { email, page_url: "/a" },
  },
];

export const payloads: readonly Payload[] = [
  ...crm,
  ...identity,
  ...analytics,
  ...webhooks,
  ...visits,
  ...names,
  ...flattened,
];
