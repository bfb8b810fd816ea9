/** The ordinary things of this service; a test states only what matters to it. */
import type { Lead } from "../../src/contract/lead.ts";
import { prepareLead } from "../../src/import/map/lead.ts";
import type { NewLead } from "../../src/import/new-lead.ts";

/** The default time of the clock of a test: ten seconds into a minute. */
export const noonMs = Date.parse("2026-02-01T12:00:10.000Z");

const ordinaryLead = {
  pixel_id: "px_site",
  name: "Dana Whitfield",
  email: "dana@example.com",
  verified_email: null,
  phone: "15550142",
  company: "Harbor & Pine",
  city: "San Diego",
  state: "CA",
  gender: "F",
  age_range: "35-44",
  income_range: "$75,000-$99,999",
  net_worth: "$100,000-$249,999",
  marital_status: "married",
  homeowner: "yes",
  children: null,
  page_url: "https://shop.example.com/pricing?plan=team",
  referrer: "https://search.example.com/",
  traffic_source: "organic",
} satisfies Omit<Lead, "id" | "identified_at">;

let lastMs = Date.parse("2026-01-31T09:15:00.123Z");

/** Every built lead is a millisecond newer than the one before: a tie would test something else. */
function nextTime(): string {
  lastMs += 1;
  return new Date(lastMs).toISOString();
}

export const aLead = (over: Partial<Lead> = {}): Lead => ({
  id: crypto.randomUUID(),
  identified_at: nextTime(),
  ...ordinaryLead,
  ...over,
});

/** So many leads, oldest first. */
export const someLeads = (count: number, over: Partial<Lead> = {}): Lead[] =>
  Array.from({ length: count }, () => aLead(over));

/** The leads as the lines of a file. */
export const linesOf = (leads: readonly object[]) => leads.map((lead) => JSON.stringify(lead)).join("\n");

/** A lead as an importer hands it to a store. */
export function newLead({ id, identified_at: at, pixel_id: pixelId, ...details }: Lead): NewLead {
  return prepareLead(id, pixelId, details, Date.parse(at));
}
