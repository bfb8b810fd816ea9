/** Leadfeeder: the visits of its API. */
import type { Vendor } from "./vendor.ts";

export const leadfeederVisits: Vendor = {
  title: "Leadfeeder (visits)",
  recognizedBy: [
    ["attributes.lf_client_id", "attributes.lead_id", "attributes.started_at"],
    ["attributes.landing_page_path", "attributes.visitor_email", "attributes.started_at"],
  ],
  person: "",
  fields: {
    first_name: ["attributes.visitor_first_name"],
    last_name: ["attributes.visitor_last_name"],
    email: ["attributes.visitor_email"],
    identified_at: ["attributes.started_at"],
    page_url: ["attributes.visit_route.page_url", "attributes.landing_page_path"],
    referrer: ["attributes.referring_url"],
    traffic_source: ["attributes.source"],
    country: ["attributes.country_code"],
  },
  notKept: ["attributes.lead_id", "attributes.lf_client_id", "attributes.medium", "attributes.campaign"],
  notes: ["The company is not in the record of the visit, but in the record of its lead."],
  sample: {
    id: "vs_1",
    type: "visits",
    attributes: {
      source: "google",
      medium: "organic",
      campaign: "",
      referring_url: "https://search.example.com/",
      landing_page_path: "/pricing",
      visit_route: [
        { hostname: "shop.example.com", page_path: "/pricing", page_url: "https://shop.example.com/pricing" },
      ],
      started_at: "2026-01-31T09:15:00Z",
      lead_id: "ld_1",
      lf_client_id: "lf.1",
      visitor_email: "dana@example.com",
      visitor_first_name: "Dana",
      visitor_last_name: "Whitfield",
      country_code: "US",
    },
  },
  lead: {
    id: "vs_1",
    identified_at: "2026-01-31T09:15:00.000Z",
    name: "Dana Whitfield",
    email: "dana@example.com",
    page_url: "https://shop.example.com/pricing",
    referrer: "https://search.example.com/",
    traffic_source: "google",
  },
};
