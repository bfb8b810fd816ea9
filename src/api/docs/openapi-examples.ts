/** The examples of the description. A test has a running server answer each of them. */
import { type ErrorCode, errors } from "../../contract/errors.ts";
import type { Lead, LeadList } from "../../contract/lead.ts";
import { accepts } from "../../contract/parameters.ts";
import type { PixelList } from "../../contract/pixel.ts";
import type { Usage } from "../../contract/usage.ts";

/** A made-up person; the number is one of those that are kept for fiction. */
const lead: Lead = {
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
};

const nobody = {
  name: null,
  email: null,
  phone: null,
  company: null,
  gender: null,
  age_range: null,
  income_range: null,
  marital_status: null,
  homeowner: null,
  referrer: null,
};

const page: LeadList = { object: "list", data: [lead], has_more: true, next_cursor: lead.identified_at };
const lastPage: LeadList = { object: "list", data: [{ ...lead, ...nobody }], has_more: false, next_cursor: null };
const nothing: LeadList = { object: "list", data: [], has_more: false, next_cursor: null };
const pixels: PixelList = {
  object: "list",
  data: [
    { id: "px_shop", status: "active" },
    { id: "px_blog", status: "paused" },
  ],
};
const usage: Usage = { object: "usage", requests_today: 42, requests_this_month: 1204, rate_limit_per_min: 60 };

interface BodyExamples {
  readonly description: string;
  readonly examples?: Readonly<
    Record<string, { readonly summary: string; readonly value: LeadList | PixelList | Usage }>
  >;
}

/** The responses that are no errors, by the name of their schema. */
export const bodyExamples: Readonly<Record<string, BodyExamples>> = {
  LeadList: {
    description: "A page of leads.",
    examples: {
      page: { summary: "A page with more after it: request the next one with before=next_cursor.", value: page },
      last_page: { summary: "The last page. A field that is not known for a visitor is null.", value: lastPage },
      nothing: { summary: "Nothing matches, which is no error.", value: nothing },
    },
  },
  PixelList: {
    description: "All pixels of the account.",
    examples: { pixels: { summary: "Every pixel has an ID and a status.", value: pixels } },
  },
  Usage: {
    description: "The counts of the presented key.",
    examples: { usage: { summary: "This request is counted as well.", value: usage } },
  },
  Redirect: {
    description:
      "The request came to the bare domain or over plain HTTP. Send it to `url` yourself: many clients drop the " +
      "Authorization header when they follow a redirect to another host. It counts nowhere.",
  },
};

/** Returns the message that comes with a code. For a 400, it is one of the possible messages. */
export function exampleMessage(code: ErrorCode, limitPerMin: number): string {
  if (code === "rate_limit_exceeded") return errors[code].message(limitPerMin);
  if (code === "invalid_parameter") return errors[code].message("limit", accepts.limit);
  if (code === "invalid_cursor") return errors[code].message("before", accepts.before);
  return errors[code].message;
}
