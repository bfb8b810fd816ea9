/** HappierLeads: a contact of a company, and its page visits. */
import type { Vendor } from "./vendor.ts";

export const happierleads: Vendor = {
  title: "HappierLeads",
  recognizedBy: [
    ["contact.personalEmail", "pageVisits.url"],
    ["contact.personalEmail", "company.state"],
    ["isFirstVisit", "isWebhookSentForFirstTime", "pageVisits.url"],
  ],
  person: "contact",
  fields: {
    name: ["contact.name"],
    email: ["contact.email", "contact.personalEmail"],
    phone: ["contact.phone"],
    company: ["company.name"],
    state: ["company.state"],
    page_url: ["pageVisits.url"],
    identified_at: ["pageVisits.timestamp"],
  },
  notKept: ["company.website", "pageVisits.duration", "contact.title"],
  notes: ["Of several visits in one record, the first one is read."],
  sample: {
    contact: {
      name: "Dana Whitfield",
      email: "dwhitfield@example.com",
      personalEmail: "dana@example.com",
      phone: "+1-555-0123",
      title: "Buyer",
    },
    company: { name: "harbor & pine", state: "california", website: "harbor.example.com" },
    pageVisits: [
      { url: "https://shop.example.com/pricing", timestamp: "2026-01-31T09:15:00.123Z", duration: 31 },
      { url: "https://shop.example.com/cart", timestamp: "2026-01-31T09:17:00.456Z", duration: 5 },
    ],
  },
  lead: {
    identified_at: "2026-01-31T09:15:00.123Z",
    name: "Dana Whitfield",
    email: "dwhitfield@example.com",
    phone: "15550123",
    company: "harbor & pine",
    state: "CA",
    page_url: "https://shop.example.com/pricing",
  },
};
