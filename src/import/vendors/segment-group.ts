/** Segment: the call group, whose traits are those of a company. */
import type { Vendor } from "./vendor.ts";

export const segmentGroup: Vendor = {
  title: "Segment (group)",
  recognizedBy: [
    ["messageId", "groupId", "traits.name"],
    ["messageId", "groupId", "anonymousId"],
    ["messageId", "groupId", "originalTimestamp"],
  ],
  person: null,
  fields: {
    id: ["messageId"],
    identified_at: ["timestamp", "originalTimestamp"],
    company: ["traits.name"],
    page_url: ["context.page.url"],
    referrer: ["context.page.referrer"],
  },
  notKept: ["groupId", "traits.email", "traits.phone", "traits.website"],
  sample: {
    type: "group",
    messageId: "ajs-2",
    anonymousId: "a-1",
    groupId: "g-1",
    traits: { name: "Harbor & Pine", phone: "619-555-0199", website: "harbor.example.com" },
    context: { page: { url: "https://shop.example.com/pricing" } },
    originalTimestamp: "2026-01-31T09:15:00Z",
    timestamp: "2026-01-31T09:15:00Z",
  },
  lead: {
    id: "ajs",
    identified_at: "2026-01-31T09:15:00.000Z",
    company: "Harbor & Pine",
    page_url: "https://shop.example.com/pricing",
  },
};
