/** A row becomes a lead, or says why it cannot. */
import { detailFields, type Lead, type LeadDetails } from "../../contract/lead.ts";
import { isPixelId } from "../../contract/pixel.ts";
import { cityKey, writeDocument } from "../../contract/stored-lead.ts";
import { writeMoment } from "../../contract/time.ts";
import type { NewLead } from "../new-lead.ts";
import { firstText, maxRecordLength, type Row, textIn } from "../row.ts";
import { readDetails } from "./details.ts";
import { type IdentityField, idFromContent, idFromSource, uuid } from "./identity.ts";
import { readVisitTime, type TimeRules, type Undecided } from "./visit-time.ts";
import type { Warning } from "./warnings.ts";

/** How rows are read in one import. */
export interface LeadRules extends TimeRules {
  /** The ID of the account, which is part of the IDs of rows that have none. */
  readonly account: string;
  /** For rows that name no pixel. */
  readonly pixelId: string | null;
  /** Pixels that earlier rows have named; their IDs need no further look. */
  readonly knownPixels?: ReadonlySet<string>;
  /** The fields that tell two rows without an ID apart. */
  readonly identity: readonly IdentityField[];
}

/** A lead with what was left out of it, why a row cannot be one, or the column of dates that has to be decided first. */
export type ReadLead =
  | { readonly lead: NewLead; readonly warnings: readonly Warning[] }
  | { readonly fault: string }
  | { readonly undecided: Undecided };

/** For what stands around a lead in a file that is exported. */
const roomAround = 1024;

/** Why a row of empty cells is rejected, as spreadsheets end a sheet with. */
export const emptyRow = "it is empty";
export const noPixel = "it names no pixel (--pixel ID is for such rows)";

/** Reads the lead of a row. */
export function readLead(row: Row, rules: LeadRules, nowMs: number): ReadLead {
  if (row.fault !== null) return { fault: row.fault };
  const { of } = row.layout;
  const { details, aliases, warnings } = readDetails(row);
  // A date decides the order of its column even if its row is rejected.
  const time = readVisitTime(row, rules, nowMs);
  // Before all else: no option makes a lead of such a row.
  if (detailFields.every((field) => details[field] === null)) return { fault: faultOfEmpty(row) };
  const pixelId = textIn(row, of.pixel_id) ?? rules.pixelId;
  if (pixelId === null) return { fault: noPixel };
  const isKnown = rules.knownPixels?.has(pixelId) === true;
  if (!isKnown && !isPixelId(pixelId)) return { fault: "its pixel has an id that cannot be one" };
  if ("fault" in time || "undecided" in time) return time;
  const own = textIn(row, of.id);
  const id =
    own === null
      ? idFromContent({ ...time, account: rules.account, pixelId, details }, rules.identity)
      : idFromSource(own, pixelId);
  const vendorId = own === null || uuid.test(own) ? null : own;
  const { identifiedMs, identifiedAt, clamped, warning } = time;
  const lead = prepareLead(id, pixelId, details, identifiedMs, { identifiedAt, clamped, aliases, vendorId });
  // What is imported must be exported in a form that can be imported again.
  if (Buffer.byteLength(lead.document) > maxRecordLength - roomAround) return { fault: "it is larger than 1 MiB" };
  return { lead, warnings: warning === undefined ? warnings : [...warnings, warning] };
}

/** Returns why a row is rejected that has nothing to keep, with a word on columns that are not known. */
function faultOfEmpty({ cells, layout, source }: Row): string {
  const isOfCsv = typeof source !== "string";
  if (isOfCsv && source.every((cell) => firstText(cell) === null)) return emptyRow;
  const used = new Set(Object.values(layout.of).flat());
  // Of JSON not all values are read.
  const hasOthers = !isOfCsv || cells.some((cell, place) => !used.has(place) && firstText(cell) !== null);
  const hint = hasOthers ? " (--map theirs=ours says what its other columns are)" : "";
  return `it has no value to keep beside id, identified_at and pixel_id${hint}`;
}

interface Further extends Partial<Pick<NewLead, "clamped" | "aliases" | "vendorId">> {
  /** The timestamp as it is written. */
  readonly identifiedAt?: string | undefined;
}

/** Prepares a lead for a store; without a timestamp of its own it gets the time of import. */
export function prepareLead(
  id: string,
  pixelId: string,
  details: LeadDetails,
  identifiedMs: number | null,
  { identifiedAt = writeMoment(identifiedMs ?? 0), clamped = false, aliases = [], vendorId = null }: Further = {},
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
    vendorId,
    document: writeDocument({ id, identified_at: identifiedAt, pixel_id: pixelId }, details),
  };
}

/** Returns a lead as it would be served. Without a time of its own it gets the time of import. */
export function asServed({ document, identifiedMs }: Pick<NewLead, "document" | "identifiedMs">, nowMs: number): Lead {
  const lead: Lead = JSON.parse(document);
  return identifiedMs === null ? { ...lead, identified_at: writeMoment(nowMs) } : lead;
}
