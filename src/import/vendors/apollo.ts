/** Apollo: exports of contacts. */
import type { Vendor } from "./vendor.ts";

export const apollo: Vendor = {
  title: "Apollo",
  recognizedBy: [
    ["Apollo Contact Id", "Email"],
    ["Person Linkedin Url", "Company Name for Emails", "Email Status"],
    ["Work Direct Phone", "Corporate Phone", "Company Name for Emails"],
  ],
  person: "",
  fields: {
    first_name: ["First Name"],
    last_name: ["Last Name"],
    email: ["Email"],
    phone: ["Mobile Phone", "Work Direct Phone", "Home Phone", "Other Phone"],
    company: ["Company", "Company Name", "Company Name for Emails"],
    city: ["City"],
    state: ["State"],
    country: ["Country"],
    identified_at: [],
  },
  notKept: [
    "Corporate Phone",
    "Company Phone",
    "Company City",
    "Company State",
    "Account Owner",
    "Contact Owner",
    "Email Status",
    "Person Linkedin Url",
    "Apollo Contact Id",
  ],
  sample:
    "First Name,Last Name,Title,Company,Company Name for Emails,Email,Email Status,Work Direct Phone,Mobile Phone,Corporate Phone,Account Owner,Person Linkedin Url,City,State,Country,Company City,Apollo Contact Id\n" +
    "Dana,Whitfield,Buyer,Harbor & Pine,Harbor & Pine,dana@example.com,Verified,'+1 619-555-0143,'+1 619-555-0142,'+1 619-555-0199,kim@vendor.example,https://social.example.com/dana,Reno,Nevada,United States,Boise,a1\n",
  lead: {
    name: "Dana Whitfield",
    email: "dana@example.com",
    phone: "16195550142",
    company: "Harbor & Pine",
    city: "Reno",
    state: "NV",
  },
};
