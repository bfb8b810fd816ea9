/** Snitcher: a session of a company. It names no person. */
import type { Vendor } from "./vendor.ts";

export const snitcher: Vendor = {
  title: "Snitcher",
  recognizedBy: [["session.landing_page", "session.started_at", "company.domain"]],
  fields: {
    identified_at: ["timestamp", "session.started_at"],
    company: ["company.name"],
    page_url: ["session.landing_page"],
    referrer: ["session.referrer"],
    traffic_source: ["session.source"],
  },
  notKept: ["company.domain", "company.phone", "session.id"],
  sample: {
    timestamp: "2026-01-31T09:15:00+00:00",
    event: "session.identified",
    company: {
      name: "Harbor & Pine",
      domain: "harbor.example.com",
      phone: "+1 619 555 0199",
      location: { city: "San Diego", region: "California", country: "United States" },
    },
    session: {
      id: "s1",
      started_at: "2026-01-31T09:10:00+00:00",
      landing_page: "/pricing",
      referrer: "search.example.com",
      source: "organic",
    },
  },
  lead: {
    identified_at: "2026-01-31T09:15:00.000Z",
    company: "Harbor & Pine",
    city: "San Diego",
    state: "CA",
    page_url: "/pricing",
    referrer: "search.example.com",
    traffic_source: "organic",
  },
};
