/** RB2B: the export of profiles, one line per person. */
import type { Vendor } from "./vendor.ts";

export const rb2bProfiles: Vendor = {
  title: "RB2B (export)",
  recognizedBy: [
    ["LinkedIn URL", "Last Seen At", "Recent Page URLs"],
    ["New Profile?", "All Time Page Views", "Most Recent Referrer"],
  ],
  person: "",
  fields: {
    identified_at: ["Last Seen At", "First Seen At"],
    first_name: ["First Name"],
    last_name: ["Last Name"],
    email: ["Business Email"],
    company: ["Company Name"],
    city: ["City"],
    state: ["State"],
    page_url: ["Recent Page URLs"],
    referrer: ["Most Recent Referrer"],
  },
  notKept: [
    "LinkedIn URL",
    "Title",
    "Website",
    "Industry",
    "Estimate Employees",
    "Zipcode",
    "All Time Page Views",
    "Tags",
  ],
  notes: [
    "A person's line changes with every visit. For one lead per person, pass `--identity name,email,company --on-duplicate replace`.",
  ],
  sample:
    "LinkedIn URL,First Name,Last Name,Title,Company Name,Business Email,Website,Industry,Estimate Employees,City,State,Zipcode,Last Seen At,First Seen At,New Profile?,All Time Page Views,Most Recent Referrer,Recent Page Count,Recent Page URLs,Tags\n" +
    'https://social.example.com/dana,Dana,Whitfield,Buyer,Harbor & Pine,dwhitfield@example.com,https://harbor.example.com,Retail,11-50,San Diego,California,92101,2026-01-31T09:15:00Z,2026-01-02T10:00:00Z,false,7,https://search.example.com/,2,"[""https://shop.example.com/pricing"",""https://shop.example.com/""]",ICP\n',
  lead: {
    identified_at: "2026-01-31T09:15:00.000Z",
    name: "Dana Whitfield",
    email: "dwhitfield@example.com",
    company: "Harbor & Pine",
    city: "San Diego",
    state: "CA",
    page_url: "https://shop.example.com/pricing",
    referrer: "https://search.example.com/",
  },
};
