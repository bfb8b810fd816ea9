/** Apollo: people of its API. */
import type { Vendor } from "./vendor.ts";

export const apolloPeople: Vendor = {
  title: "Apollo (API)",
  recognizedBy: [
    ["person.organization.name", "person.email_status"],
    ["person.organization_id", "person.first_name", "person.headline"],
    ["person.employment_history", "person.organization_id"],
  ],
  person: "person",
  fields: {
    name: ["person.name"],
    first_name: ["person.first_name"],
    last_name: ["person.last_name"],
    email: ["person.email"],
    phone: ["person.phone_numbers.sanitized_number", "person.phone_numbers.raw_number"],
    company: ["person.organization.name"],
    city: ["person.city"],
    state: ["person.state"],
    country: ["person.country"],
    page_url: [],
    identified_at: [],
  },
  notKept: ["person.organization.phone", "person.linkedin_url", "person.photo_url"],
  sample: {
    person: {
      id: "p1",
      first_name: "Dana",
      last_name: "Whitfield",
      name: "Dana Whitfield",
      email: "dana@example.com",
      email_status: "verified",
      linkedin_url: "https://social.example.com/dana",
      organization_id: "o1",
      organization: { name: "Harbor & Pine", phone: "+16195550199" },
      phone_numbers: [{ raw_number: "(619) 555-0142", sanitized_number: "+16195550142" }],
      city: "Reno",
      state: "Nevada",
      country: "United States",
    },
  },
  lead: {
    name: "Dana Whitfield",
    email: "dana@example.com",
    phone: "16195550142",
    company: "Harbor & Pine",
    city: "Reno",
    state: "NV",
  },
};
