/** The examples of the description. A test has a running server answer each of them. */
import { type ErrorCode, errors } from "../../contract/errors.ts";
import type { Lead } from "../../contract/lead.ts";
import type { LeadList, PixelList } from "../../contract/list.ts";
import { leadParameters } from "../../contract/parameters.ts";
import type { Usage } from "../../contract/usage.ts";
import type { Json } from "./openapi-schemas.ts";

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

/** The usual answer of each endpoint. */
export const answers = { leads: page, pixels, usage };

type Examples = Readonly<Record<string, { readonly summary: string; readonly value: Json }>>;

/** Bodies of 200 by the name of their schema. */
export const bodyExamples: Readonly<Record<string, Examples>> = {
  LeadList: {
    page: { summary: "A page with more behind it: ask again with before=next_cursor.", value: page },
    last_page: { summary: "The last page. What is not resolved for a visitor is null.", value: lastPage },
    nothing: { summary: "Nothing matches, which is no error.", value: nothing },
  },
  PixelList: { pixels: { summary: "Every pixel has an id and a status.", value: pixels } },
  Usage: { usage: { summary: "The call that asks is counted as well.", value: usage } },
};

/** The message that comes with a code; for a 400, one of its messages. */
export function exampleMessage(code: ErrorCode, limitPerMin: number): string {
  if (code === "rate_limit_exceeded") return errors[code].message(limitPerMin);
  if (code === "invalid_parameter") return errors[code].message("limit", leadParameters.limit.accepts);
  if (code === "invalid_cursor") return errors[code].message("before", leadParameters.before.accepts);
  return errors[code].message;
}
