/** A row becomes a lead, or it says why it cannot. */
import { detailFields, type LeadDetails } from "../../../contract/lead.ts";
import { isPixelId } from "../../../contract/pixel.ts";
import { cityKey, writeDocument } from "../../../contract/stored-lead.ts";
import { writeMoment } from "../../../contract/time.ts";
import type { NewLead } from "../../new-lead.ts";
import { largestRecord, type Row, textIn } from "../../row.ts";
import type { Columns } from "../columns/columns.ts";
import { readDetails, type Warning } from "./details.ts";
import { faultOfEmpty } from "./empty-row.ts";
import { type IdentityField, idFromContent, idFromSource } from "./made-id.ts";
import { readVisitTime, type TimeRules } from "./visit-time.ts";

/** How rows are read in one import. */
export interface LeadRules extends TimeRules {
  /** The id of the account, which goes into the ids of rows that have none. */
  readonly account: string;
  /** For rows that name no pixel. */
  readonly pixelId: string | null;
  /** Pixels that earlier rows have named; their ids need no further look. */
  readonly knownPixels?: ReadonlySet<string>;
  /** The fields that tell two rows without an id apart. */
  readonly identity: readonly IdentityField[];
}

export type ReadLead = { readonly lead: NewLead; readonly warnings: readonly Warning[] } | { readonly fault: string };

/** For what stands around a lead in a file that is exported. */
const roomAround = 1024;

/** The lead of a row with what was left out of it, or why it cannot be one. */
export function readLead(row: Row, columns: Columns, rules: LeadRules, nowMs: number): ReadLead {
  if (row.fault !== null) return { fault: row.fault };
  const { details, aliases, warnings } = readDetails(row, columns);
  // Before all else: no option brings such a row in.
  if (detailFields.every((field) => details[field] === null)) return { fault: faultOfEmpty(row, columns) };
  const pixelId = textIn(row, columns.of.pixel_id) ?? rules.pixelId;
  if (pixelId === null) return { fault: "it names no pixel (--pixel ID is for such rows)" };
  const isKnown = rules.knownPixels?.has(pixelId) === true;
  if (!isKnown && !isPixelId(pixelId)) return { fault: "its pixel has an id that cannot be one" };
  const time = readVisitTime(row, columns, rules, nowMs);
  if ("fault" in time) return time;
  const own = textIn(row, columns.of.id);
  const id =
    own === null
      ? idFromContent({ ...time, account: rules.account, pixelId, details }, rules.identity)
      : idFromSource(own);
  const { identifiedMs, identifiedAt, clamped } = time;
  const lead = prepareLead(id, pixelId, details, identifiedMs, { identifiedAt, clamped, aliases });
  // What comes in must be able to go out and come in again.
  if (Buffer.byteLength(lead.document) > largestRecord - roomAround) return { fault: "it is larger than 1 MiB" };
  return { lead, warnings };
}

interface Further extends Partial<Pick<NewLead, "clamped" | "aliases">> {
  /** The moment as it is written. */
  readonly identifiedAt?: string | undefined;
}

/** Prepares a lead for a store; without a moment of its own it gets the time of import. */
export function prepareLead(
  id: string,
  pixelId: string,
  details: LeadDetails,
  identifiedMs: number | null,
  { identifiedAt = writeMoment(identifiedMs ?? 0), clamped = false, aliases = [] }: Further = {},
): NewLead {
  return {
    id,
    pixelId,
    state: details.state,
    cityKey: details.city === null ? null : cityKey(details.city),
    hasEmail: details.email !== null,
    identifiedMs,
    clamped,
    aliases,
    document: writeDocument({ id, identified_at: identifiedAt, pixel_id: pixelId }, details),
  };
}
