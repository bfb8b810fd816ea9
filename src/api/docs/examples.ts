/** The examples of responses in /openapi.json. docs/api.md shows the same ones. */
import type { LeadList } from "../../contract/lead.ts";
import type { PixelList } from "../../contract/pixel.ts";
import type { Usage } from "../../contract/usage.ts";

const page: LeadList = {
  object: "list",
  data: [
    {
      id: "018d5f1c-0a8b-8c1e-9f44-2b7f5a3e6d10",
      identified_at: "2026-01-31T09:15:00.123Z",
      pixel_id: "px_shop",
      name: "Dana Whitfield",
      email: "dana@example.com",
      verified_email: null,
      phone: "16195550142",
      company: "Harbor & Pine",
      city: "San Diego",
      state: "CA",
      gender: "F",
      age_range: "35-44",
      income_range: "$75,000 to $99,999",
      net_worth: null,
      marital_status: "Y",
      homeowner: "Y",
      children: null,
      page_url: "https://www.example.com/pricing",
      referrer: "https://www.google.com/",
      traffic_source: "google",
    },
  ],
  has_more: true,
  next_cursor: "2026-01-31T09:15:00.123Z",
};

const pixels: PixelList = {
  object: "list",
  data: [
    {
      id: "px_shop",
      status: "active",
    },
    {
      id: "px_blog",
      status: "paused",
    },
  ],
};

const usage: Usage = {
  object: "usage",
  requests_today: 42,
  requests_this_month: 1204,
  rate_limit_per_min: 60,
};

export const leadExamples = {
  page: { summary: "A page with more after it: request the next one with before=next_cursor.", value: page },
  last_page: { summary: "The last page.", value: { ...page, has_more: false, next_cursor: null } },
};

export const pixelExamples = { pixels: { summary: "Every pixel has an ID and a status.", value: pixels } };

export const usageExamples = { usage: { summary: "This request is counted as well.", value: usage } };
