/** A lead as a store takes it: its document, and beside that what leads are filtered by. */
import { cityKey, type LeadDetails, writeDocument } from "../contract/lead.ts";
import { writeMoment } from "../contract/time.ts";
import type { NewLead } from "../store/imports.ts";

/** Prepares a lead for a store; without a moment of its own it gets the time of import. */
export function prepareLead(id: string, pixelId: string, details: LeadDetails, identifiedMs: number | null): NewLead {
  return {
    id,
    pixelId,
    state: details.state,
    cityKey: details.city === null ? null : cityKey(details.city),
    hasEmail: details.email !== null,
    identifiedMs,
    document: writeDocument({ id, identified_at: writeMoment(identifiedMs ?? 0), pixel_id: pixelId, ...details }),
  };
}
