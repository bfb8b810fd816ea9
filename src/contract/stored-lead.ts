/** A lead as it is stored: its canonical JSON document, and the key by which its city is compared. */
import type { Lead, LeadDetails, LeadEvent } from "./lead.ts";

/** Returns the canonical JSON document of a lead, with all fields in order. It is stored once, and served as it is. */
export function writeDocument({ id, identified_at, pixel_id }: LeadEvent, details: LeadDetails): string {
  // A loop over the names of the fields takes three times as long.
  const lead: Lead = {
    id,
    identified_at,
    pixel_id,
    name: details.name,
    email: details.email,
    verified_email: details.verified_email,
    phone: details.phone,
    company: details.company,
    city: details.city,
    state: details.state,
    gender: details.gender,
    age_range: details.age_range,
    income_range: details.income_range,
    net_worth: details.net_worth,
    marital_status: details.marital_status,
    homeowner: details.homeowner,
    children: details.children,
    page_url: details.page_url,
    referrer: details.referrer,
    traffic_source: details.traffic_source,
  };
  return JSON.stringify(lead);
}

/** Parses a stored document. It is not validated, because only writeDocument creates documents. */
export function readDocument(document: string): Lead {
  return JSON.parse(document);
}

/** The position of the timestamp in a document. All IDs have the same length, and so have all timestamps. */
const timestampStart = '{"id":"00000000-0000-0000-0000-000000000000","identified_at":"'.length;
const timestampEnd = timestampStart + "2026-01-31T09:15:00.123Z".length;

/** Returns the same document with another timestamp. A tie moves a lead by a millisecond. */
export function moveDocument(document: string, identifiedAt: string): string {
  return document.slice(0, timestampStart) + identifiedAt + document.slice(timestampEnd);
}

/** Returns the key by which cities are compared (§4.1: case-insensitive exact match). */
export function cityKey(city: string): string {
  return city.trim().normalize("NFC").toLowerCase();
}
