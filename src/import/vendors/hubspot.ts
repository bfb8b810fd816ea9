/** HubSpot: exports of contacts, and contacts of its API. */
import type { Vendor } from "./vendor.ts";

export const hubspot: Vendor = {
  title: "HubSpot",
  recognizedBy: [
    ["properties.hs_object_id", "properties.lastmodifieddate"],
    ["properties.hs_object_id", "properties.createdate"],
    ["vid", "canonical-vid", "properties.email.value"],
    ["vid", "portal-id", "is-contact"],
    ["Record ID", "Marketing contact status", "Lifecycle Stage"],
    ["Record ID", "Time Last Seen", "Original Source"],
    ["Record ID", "Last Page Seen", "Last Referring Site"],
    ["Record ID", "Original Source", "Create Date", "Contact owner"],
  ],
  person: "",
  fields: {
    first_name: ["First Name", "firstname", "properties.firstname", "properties.firstname.value"],
    last_name: ["Last Name", "lastname", "properties.lastname", "properties.lastname.value"],
    email: ["Email", "properties.email", "properties.email.value"],
    phone: [
      "Phone Number",
      "Mobile Phone Number",
      "properties.phone",
      "properties.phone.value",
      "properties.mobilephone",
    ],
    company: ["Company Name", "properties.company", "properties.company.value", "Associated Company"],
    city: ["City", "properties.city", "properties.city.value"],
    state: ["State/Region", "properties.state", "properties.state.value"],
    country: ["Country/Region", "properties.country", "properties.country.value"],
    identified_at: [
      "Time Last Seen",
      "Time of Last Session",
      "properties.hs_analytics_last_timestamp",
      "properties.hs_analytics_last_timestamp.value",
    ],
    page_url: [
      "Last Page Seen",
      "properties.hs_analytics_last_url",
      "properties.hs_analytics_last_url.value",
      "First Page Seen",
      "properties.hs_analytics_first_url",
    ],
    referrer: ["Last Referring Site", "properties.hs_analytics_last_referrer", "First Referring Site"],
    traffic_source: [
      "Latest Source",
      "Latest Traffic Source",
      "Original Source",
      "Original Traffic Source",
      "properties.hs_latest_source",
      "properties.hs_analytics_source",
      "properties.hs_analytics_source.value",
    ],
  },
  notKept: [
    "Record ID",
    "Contact owner",
    "Create Date",
    "Lifecycle Stage",
    "properties.hubspot_owner_id",
    "properties.createdate",
    "createdAt",
  ],
  notes: [
    "`Create Date` is when the contact was created, not when a visit happened. `--map 'Create Date=identified_at'` uses it anyway.",
  ],
  sample:
    "Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Create Date,Company Name,City,State/Region,Country/Region,Time Last Seen,Last Page Seen,Last Referring Site,Original Source,Marketing contact status,Lifecycle Stage\n" +
    "101,Dana,Whitfield,dana@example.com,(619) 555-0142,Kim Reed,2025-11-02 10:00,Harbor & Pine,Reno,Nevada,United States,2026-01-31 09:15,https://shop.example.com/pricing,https://search.example.com/,Organic Search,Marketing contact,Lead\n",
  lead: {
    identified_at: "2026-01-31T09:15:00.000Z",
    name: "Dana Whitfield",
    email: "dana@example.com",
    phone: "6195550142",
    company: "Harbor & Pine",
    city: "Reno",
    state: "NV",
    page_url: "https://shop.example.com/pricing",
    referrer: "https://search.example.com/",
    traffic_source: "Organic Search",
  },
};
