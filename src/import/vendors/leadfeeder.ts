/** Leadfeeder (Dealfront): companies that visited. It names no person. */
import type { Vendor } from "./vendor.ts";

export const leadfeeder: Vendor = {
  title: "Leadfeeder (leads)",
  recognizedBy: [
    ["attributes.view_in_leadfeeder", "attributes.name"],
    ["attributes.first_visit_date", "attributes.last_visit_date", "attributes.website_url"],
    ["attributes.last_visit_date", "attributes.crm_lead_id", "attributes.business_id"],
    ["attributes.employees_range", "attributes.website_url", "attributes.status"],
  ],
  person: null,
  fields: {
    company: ["attributes.name"],
    identified_at: ["attributes.last_visit_date", "attributes.first_visit_date"],
    page_url: [],
    referrer: [],
    traffic_source: [],
  },
  notKept: ["attributes.website_url", "attributes.phone", "attributes.view_in_leadfeeder", "attributes.assignee"],
  sample: {
    id: "ld_1",
    type: "leads",
    attributes: {
      name: "Harbor & Pine",
      industry: "Retail",
      first_visit_date: "2026-01-02",
      last_visit_date: "2026-01-31",
      website_url: "https://harbor.example.com",
      phone: "6195550199",
      employees_range: { min: 11, max: 50 },
      status: "new",
      view_in_leadfeeder: "https://app.example.com/1",
    },
  },
  lead: { id: "ld", identified_at: "2026-01-31T00:00:00.000Z", company: "Harbor & Pine" },
};
