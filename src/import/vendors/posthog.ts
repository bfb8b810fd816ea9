/** PostHog: an event with its person. */
import type { Vendor } from "./vendor.ts";

export const posthog: Vendor = {
  title: "PostHog",
  recognizedBy: [
    ["distinct_id", "properties.$current_url", "timestamp"],
    ["properties.$lib", "properties.distinct_id"],
    ["person.distinct_id", "event"],
    ["distinct_id", "properties.$session_id"],
  ],
  person: "",
  fields: {
    id: ["uuid"],
    identified_at: ["timestamp"],
    page_url: ["properties.$current_url"],
    referrer: ["properties.$referrer"],
    traffic_source: ["properties.utm_source"],
    name: ["person.properties.name", "properties.$set.name"],
    first_name: ["person.properties.first_name"],
    last_name: ["person.properties.last_name"],
    email: ["person.properties.email", "properties.$set.email"],
    phone: ["person.properties.phone"],
    company: ["person.properties.company"],
    city: [],
    state: [],
  },
  notKept: ["distinct_id", "person.name", "properties.$geoip_city_name", "properties.$browser"],
  notes: ["`person.name` is the email address or an ID, and not a name."],
  sample: {
    event: "$pageview",
    uuid: "0194bbf0-0000-7000-8000-00000000abcd",
    distinct_id: "u1",
    timestamp: "2026-01-31T09:15:00Z",
    properties: {
      $current_url: "https://shop.example.com/pricing",
      $referrer: "https://search.example.com/",
      $lib: "web",
      $session_id: "s1",
      $geoip_city_name: "Ashburn",
    },
    person: {
      name: "dana@example.com",
      distinct_id: "u1",
      properties: { email: "dana@example.com", name: "Dana Whitfield" },
    },
  },
  lead: {
    id: "0194bbf0-0000-7000-8000-00000000abcd",
    identified_at: "2026-01-31T09:15:00.000Z",
    name: "Dana Whitfield",
    email: "dana@example.com",
    page_url: "https://shop.example.com/pricing",
    referrer: "https://search.example.com/",
  },
};
