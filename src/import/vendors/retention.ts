/** Retention.com: one line per identified click. */
import type { Vendor } from "./vendor.ts";

export const retention: Vendor = {
  title: "Retention.com",
  recognizedBy: [
    ["clicked_at", "landing_page_url", "email_domain"],
    ["clicked_at", "landing_page_domain", "address_postal"],
    ["occurred_at", "landing_page_url", "landing_page_domain"],
  ],
  person: "",
  fields: {
    identified_at: ["clicked_at", "occurred_at"],
    email: ["email"],
    first_name: ["first_name"],
    last_name: ["last_name"],
    city: ["address_city"],
    state: ["address_state"],
    page_url: ["landing_page_url"],
    referrer: ["referrer"],
  },
  notKept: ["email_domain", "landing_page_domain", "address_line_1", "address_postal", "event_type"],
  sample:
    "email,first_name,last_name,address_line_1,address_city,address_state,address_postal,email_domain,landing_page_url,landing_page_domain,referrer,clicked_at,event_type\n" +
    'dana@example.com,Dana,Whitfield,1 Pine St,Reno,NV,89501,example.com,https://shop.example.com/spring,shop.example.com,https://search.example.com/,"Thu, 26 Sep 2019 19:47:42 UTC +00:00",click\n',
  lead: {
    identified_at: "2019-09-26T19:47:42.000Z",
    name: "Dana Whitfield",
    email: "dana@example.com",
    city: "Reno",
    state: "NV",
    page_url: "https://shop.example.com/spring",
    referrer: "https://search.example.com/",
  },
};
