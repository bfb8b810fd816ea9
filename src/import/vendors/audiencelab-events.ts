/** AudienceLab in JSON: an event with the person in an object. */
import type { Vendor } from "./vendor.ts";

export const audiencelabEvents: Vendor = {
  title: "AudienceLab (JSON)",
  recognizedBy: [
    ["event_timestamp", "resolution.FIRST_NAME", "resolution.LAST_NAME"],
    ["event_timestamp", "resolution.UUID"],
  ],
  person: "resolution",
  fields: {
    identified_at: ["event_timestamp", "timestamp"],
    pixel_id: ["pixel_id"],
    page_url: ["full_url", "url"],
    referrer: ["referrer_url", "referrer"],
  },
  notKept: ["resolution.UUID", "hem_sha256", "event_type"],
  sample: {
    pixel_id: "7c6a1f0e-59a2-4a53-9f3f-3f2f9a1d2b11",
    event_timestamp: "2026-01-31T09:15:00Z",
    event_type: "page_view",
    full_url: "https://shop.example.com/pricing",
    referrer_url: "https://search.example.com/",
    resolution: {
      UUID: "0000a1b2c3d4e5f60718293a4b",
      FIRST_NAME: "Dana",
      LAST_NAME: "Whitfield",
      PERSONAL_EMAILS: "dana@example.com, dana.w@example.com",
      MOBILE_PHONE: "+16195550142",
      PERSONAL_CITY: "San Diego",
      PERSONAL_STATE: "CA",
      COMPANY_NAME: "Harbor & Pine",
      COMPANY_CITY: "Boise",
    },
  },
  lead: {
    identified_at: "2026-01-31T09:15:00.000Z",
    pixel_id: "7c6a1f0e-59a2-4a53-9f3f-3f2f9a1d2b11",
    name: "Dana Whitfield",
    email: "dana@example.com",
    phone: "16195550142",
    company: "Harbor & Pine",
    city: "San Diego",
    state: "CA",
    page_url: "https://shop.example.com/pricing",
    referrer: "https://search.example.com/",
  },
};
