/** The names of vendors for the fields of a lead, and names that only sound like one. */
import { describe, expect, test } from "bun:test";
import { leadFields } from "../../src/contract/lead.ts";
import { aliases, objects } from "../../src/import/map/fields.ts";
import { normalizeName } from "../../src/import/map/names.ts";
import { columnsByField, leadOf, readText } from "./reading.ts";

test("the table has each normalized name once", () => {
  const names = Object.values(aliases).flat();
  expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([]);
  const all = [...names, ...Object.values(objects).flat()];
  expect(all.filter((name) => normalizeName(name) !== name)).toEqual([]);
});

test("no name in the table contains a word for a representative", () => {
  const ofOthers = /owner(?!s?hip|renter|status|$)|agent|salesrep|assigned|createdby|manager/;
  expect(
    Object.values(aliases)
      .flat()
      .filter((name) => ofOthers.test(name)),
  ).toEqual([]);
});

/** The field of a lead that a column is read as; null when it is not kept. */
async function fieldOf(header: string): Promise<string | null> {
  const { columns } = await readText(`"${header}","x"\n1,2\n`);
  const fields = Object.entries(columnsByField(columns));
  return fields.find(([, names]) => names.includes(header.trim()))?.[0] ?? null;
}

const known: Record<string, string> = {
  id: "id,ID,event_id",
  identified_at:
    "event_timestamp,EVENT_TIMESTAMP,timestamp,last_seen_at,Last Seen At,seen_at,SeenAt,visited_at,clicked_at,occurred_at," +
    "started_at,first_seen_at,Date Last Seen,When Seen,Website Visit Date,Visit Date,identifiedAt,Visitor Date,Date Captured,Captured On," +
    "Capture Date,Last Activity,Last Activity Date,Last Activity Time,Date of Visit,Time Seen,Time Last Seen," +
    "Time First Seen,First Seen Date,First Seen Time,Session Start Date,Session Start Time,Landing Date,Landing Time," +
    "Hit Hour,Visited Date,Local Time,Visit Time,Resolved On",
  pixel_id: "pixelId,PIXEL_ID,Pixel ID,pixel",
  first_name: "Vorname,Prénom,Nombre,FIRST_NAME,First Name,firstName,first-name,first.name, First Name ,given_name",
  last_name: "Nachname,Apellidos,Nom,LAST_NAME,Last Name,lastName,surname",
  name: "Full Name,full_name,NAME,Contact Name,Visitor Name,Nombre completo",
  email:
    "E-Mail-Adresse,E-Mail (geschäftlich),Courriel,Courriel professionnel,Correo electrónico,E-mail,Email Address,PERSONAL_EMAIL,PERSONAL_EMAILS,BUSINESS_EMAIL,business_emails,Work Email,WorkEmail,Email 2,Visitor Email",
  verified_email:
    "PERSONAL_VERIFIED_EMAILS,PERSONAL_VERIFIED_EMAIL,BUSINESS_VERIFIED_EMAILS,DEEP_VERIFIED_EMAILS,Verified Email",
  phone:
    "MOBILE_PHONE,DIRECT_NUMBER,PERSONAL_PHONE,ALL_MOBILES,ALL_LANDLINES,SKIPTRACE_WIRELESS_NUMBERS,Phone Number,phone1," +
    "Cell Phone,Mobile Phone Number,Direct Phone,Telephone,Telephone No.,Work Direct Phone,Office Phone Number," +
    "work_direct_dial,Work Phone,Telefon,Telefon (mobil),Téléphone fixe,Teléfono,Handynummer,Téléphone portable",
  company:
    "Firma,Société,Empresa,COMPANY_NAME,Company,Company / Account,Organization,organisation,Employer,Company Name",
  city: "PERSONAL_CITY,address_city,City,SKIPTRACE_CITY,Home City",
  state:
    "Bundesland,Estado,PERSONAL_STATE,address_state,Region,State/Region,State / Province,State/Province (text only),SKIPTRACE_STATE,State Code",
  country: "Country,COUNTRY_CODE,PERSONAL_COUNTRY,address_country,Country/Region,Contact Country",
  time_zone: "Time Zone,timezone,TZ",
  gender: "GENDER,Sex",
  age_range: "AGE_RANGE,Age,Age Group",
  income_range: "INCOME_RANGE,Income,$ Income Range,household_income",
  net_worth: "NET_WORTH,networth,Net Worth",
  marital_status: "MARRIED,married,isMarried,Marital Status",
  homeowner: "HOMEOWNER,home_owner,isHomeowner,Home Owner",
  children: "CHILDREN,hasChildren,Number of Children",
  page_url:
    "url,URL,FULL_URL,page,landing_page,landing_page_url,Captured URL,last_url,CapturedUrl,Recent Page URLs,Last Page Seen,Seite,Page visitée,Página visitada",
  referrer: "REFERRER_URL,referrer,Referer,Most Recent Referrer,HTTP Referrer,Last Referring Site",
  traffic_source: "source,utm_source,UTM_SOURCE,Lead Source,Traffic Source",
};

const asKnown = Object.entries(known).flatMap(([field, headers]) => headers.split(",").map((h) => [h, field] as const));

test.each(asKnown)("a column %s is read as %s", async (header, field) => {
  expect(await fieldOf(header)).toBe(field);
});

test.each(leadFields.map((field) => [field]))("the API's own name %s is read as itself", async (field) => {
  expect(await fieldOf(field)).toBe(field);
});

const others =
  "UUID,EDID,hem_sha256,HEM_SHA256,SHA256_PERSONAL_EMAIL,SHA256_BUSINESS_EMAIL,MOBILE_PHONE_DNC,DIRECT_NUMBER_DNC," +
  "PERSONAL_PHONE_DNC,email_domain,landing_page_domain,company_domain,COMPANY_PHONE," +
  "COMPANY_WEBSITE,Company URL,PROFESSIONAL_CITY,PROFESSIONAL_STATE,BUSINESS_EMAIL_VALIDATION_STATUS," +
  "PERSONAL_EMAIL_VALIDATION_STATUS,SKIPTRACE_EXACT_AGE,JOB_TITLE,LINKEDIN_URL,COMPANY_LINKEDIN_URL,ip_address," +
  "event_type,activity_start_date,activity_end_date,address_line_1,address_postal,Website,Email Hash,Email Verified," +
  "Corporate Phone,Business Phone,Business Telephone,Company Phone,BUSINESS_PHONES,created,created_at," +
  "username,Contact ID,visitor.url,owner.email,My Email,IP Country,Timezone Of Contact,Record ID,Visitor ID,Session ID,IP City,Updated At,Date of Birth,Page Title,Page Views";

test.each(others.split(",").map((header) => [header]))("a column %s is not kept", async (header) => {
  expect(await fieldOf(header)).toBeNull();
});

describe("of several columns for one field, each row uses the first with a value", () => {
  test.each([
    ["PERSONAL_EMAIL", "BUSINESS_EMAIL", "email"],
    ["PERSONAL_VERIFIED_EMAILS", "BUSINESS_VERIFIED_EMAILS", "verified_email"],
    ["PERSONAL_CITY", "SKIPTRACE_CITY", "city"],
    ["AGE_RANGE", "AGE", "age_range"],
    ["MOBILE_PHONE", "DIRECT_NUMBER", "phone"],
    ["Mobile Phone", "Work Direct Phone", "phone"],
    ["Mobile Phone", "Work Phone", "phone"],
    ["DIRECT_NUMBER", "PERSONAL_PHONE", "phone"],
    ["event_timestamp", "timestamp", "identified_at"],
    ["last_seen_at", "first_seen_at", "identified_at"],
    ["Time Last Seen", "Last Activity Date", "identified_at"],
    ["Visit Time (UTC)", "Visit Time", "identified_at"],
    ["Last Page Seen", "First Page Seen", "page_url"],
    ["full_url", "first_url", "page_url"],
  ])("%s before %s, whatever their order in the file", async (preferred, other, field) => {
    for (const header of [`${preferred},${other}`, `${other},${preferred}`]) {
      const { columns } = await readText(`${header}\n1,2\n`);
      expect(columnsByField(columns)[field]).toEqual([preferred, other]);
    }
  });

  test("a row without the preferred column uses the next one", async () => {
    const row = {
      PERSONAL_EMAIL: " ",
      BUSINESS_EMAIL: "dana@example.com",
      MOBILE_PHONE: "N/A",
      DIRECT_NUMBER: "555-0142",
    };
    expect(await leadOf(row)).toMatchObject({ email: "dana@example.com", phone: "5550142" });
  });
});

test("a number of pages is not a page", async () => {
  expect(await leadOf({ email: "dana@example.com", "Pages Visited": "17" })).toEqual({ email: "dana@example.com" });
});

test.each([
  ["https://shop.example.com/a, https://shop.example.com/b", "https://shop.example.com/a"],
  ["https://shop.example.com/a,HTTP://shop.example.com/b", "https://shop.example.com/a"],
  ["https://shop.example.com/a | https://shop.example.com/b", "https://shop.example.com/a"],
  ["https://shop.example.com/a;https://shop.example.com/b", "https://shop.example.com/a"],
  ["https://shop.example.com/a\nhttps://shop.example.com/b", "https://shop.example.com/a"],
  ["/pricing, /about", "/pricing"],
  [", https://shop.example.com/b", "https://shop.example.com/b"],
  [
    "https://shop.example.com/?sizes=1,2&to=https://example.com/",
    "https://shop.example.com/?sizes=1,2&to=https://example.com/",
  ],
  ["/a,/b", "/a,/b"],
])("keeps the first page of %j", async (cell, page) => {
  expect(await leadOf({ "Recent Page URLs": cell })).toEqual({ page_url: page });
});

test("joins first and last name, either of which may be missing", async () => {
  expect(await leadOf({ "First Name": "Dana", "Last Name": "Whitfield" })).toEqual({ name: "Dana Whitfield" });
  expect(await leadOf({ "First Name": "", "Last Name": "Whitfield" })).toEqual({ name: "Whitfield" });
  expect(await leadOf({ Vorname: "Dana", Name: "Whitfield" })).toEqual({ name: "Dana Whitfield" });
  expect(await leadOf({ Vorname: "Dana", Name: "Dana Whitfield" })).toEqual({ name: "Dana Whitfield" });
  expect(await leadOf({ Vorname: "Dana", Nachname: "Whitfield", Name: "Harbor" })).not.toEqual({ name: "Dana Harbor" });
  expect(await leadOf({ "First Name": "Dana", "Last Name": "null" })).toEqual({ name: "Dana" });
  expect(await leadOf({ "First Name": "D", "Last Name": "W", Name: "Dana Whitfield" })).toEqual({
    name: "Dana Whitfield",
  });
});
