/** The filter of a page as the ledger keeps it. */
import { cityKey, type Lead } from "../contract/lead.ts";
import type { LeadQuery } from "../contract/parameters.ts";

/** A filter as text: the same for the same leads, and empty for a page of all. */
export function writeFilter({ city, hasEmail, pixelId, state }: LeadQuery): string {
  if (city === null && !hasEmail && pixelId === null && state === null) return "";
  const filter = {
    ...(city === null ? {} : { city }),
    ...(hasEmail ? { has_email: true } : {}),
    ...(pixelId === null ? {} : { pixel_id: pixelId }),
    ...(state === null ? {} : { state }),
  };
  return JSON.stringify(filter);
}

/** Tells whether a lead is on pages with a filter that cover its moment. */
export function readFilter(filter: string): (lead: Lead) => boolean {
  if (filter === "") return () => true;
  const wanted: { city?: string; has_email?: true; pixel_id?: string; state?: string } = JSON.parse(filter);
  return (lead) =>
    (wanted.city === undefined || (lead.city !== null && cityKey(lead.city) === wanted.city)) &&
    (wanted.has_email !== true || lead.email !== null) &&
    (wanted.pixel_id === undefined || lead.pixel_id === wanted.pixel_id) &&
    (wanted.state === undefined || lead.state === wanted.state);
}
