/** Klaviyo: profiles, and no visits. */
import type { Vendor } from "./vendor.ts";

export const klaviyo: Vendor = {
  title: "Klaviyo",
  recognizedBy: [
    ["Klaviyo ID", "Email Marketing Consent"],
    ["Klaviyo ID", "First Active", "Last Active"],
    ["Email Marketing Consent", "SMS Marketing Consent", "Email Marketing Consent Timestamp"],
  ],
  person: "",
  fields: {
    email: ["Email", "Email Address"],
    first_name: ["First Name"],
    last_name: ["Last Name"],
    phone: ["Phone Number"],
    company: ["Organization"],
    city: ["City"],
    state: ["Region", "State / Region"],
    country: ["Country"],
    identified_at: [],
  },
  notKept: ["Klaviyo ID", "Email Marketing Consent", "Created"],
  notes: [
    "`Created` is when the profile was created, not when a visit happened. `--map Created=identified_at` uses it anyway.",
  ],
  sample:
    "Email,Klaviyo ID,First Name,Last Name,Phone Number,Organization,City,Region,Country,Email Marketing Consent,Created\n" +
    "dana@example.com,01HK,Dana,Whitfield,+16195550142,Harbor & Pine,San Diego,California,United States,SUBSCRIBED,2024-05-01 10:00:00\n",
  lead: {
    name: "Dana Whitfield",
    email: "dana@example.com",
    phone: "16195550142",
    company: "Harbor & Pine",
    city: "San Diego",
    state: "CA",
  },
};
