/** A row becomes a lead, or it says why it cannot (decisions on what a lead is). */
import { cityKey, detailFields, type LeadDetails, writeDocument } from "../../contract/lead.ts";
import { isPixelId } from "../../contract/pixel.ts";
import { writeMoment } from "../../contract/time.ts";
import type { NewLead } from "../../store/imports.ts";
import { type Columns, isRejectColumn } from "../columns/columns.ts";
import { first, firstText, largestRecord, type Row } from "../row.ts";
import { readDetails, type Warning } from "./details.ts";
import { type IdentityField, idFromContent, idFromSource } from "./identity.ts";
import { readVisitTime, type TimeRules } from "./visit-time.ts";

/** How rows are read in one import. */
export interface LeadRules extends TimeRules {
  /** The id of the account, which goes into the ids of rows that have none. */
  readonly account: string;
  /** For rows that name no pixel. */
  readonly pixelId: string | null;
  /** The fields that tell two rows without an id apart. */
  readonly identity: readonly IdentityField[];
}

export type ReadLead = { readonly lead: NewLead; readonly warnings: readonly Warning[] } | { readonly fault: string };

/** Why a row of empty cells is rejected, as spreadsheets end a sheet with. */
export const emptyRow = "it is empty";

/** For what stands around a lead in a file that is exported. */
const roomAround = 1024;

export function readLead(row: Row, columns: Columns, rules: LeadRules, nowMs: number): ReadLead {
  if (row.fault !== null) return { fault: row.fault };
  const { details, aliases, warnings } = readDetails(row, columns);
  // Before all else: no option brings such a row in.
  if (detailFields.every((field) => details[field] === null)) {
    if (isEmpty(row)) return { fault: emptyRow };
    return { fault: `it has no value to keep beside id, identified_at and pixel_id${mapHint(row, columns)}` };
  }
  const pixelId = first(row, columns.of.pixel_id, firstText) ?? rules.pixelId;
  if (pixelId === null) return { fault: "it names no pixel (--pixel ID is for such rows)" };
  if (!isPixelId(pixelId)) return { fault: "its pixel has an id that cannot be one" };
  const time = readVisitTime(row, columns, rules, nowMs);
  if ("fault" in time) return time;
  const ownId = first(row, columns.of.id, firstText);
  const id =
    ownId === null
      ? idFromContent({ ...time, account: rules.account, pixelId, details }, rules.identity)
      : idFromSource(ownId);
  const lead = { ...prepareLead(id, pixelId, details, time.identifiedMs), clamped: time.clamped, aliases };
  // What comes in must be able to go out and come in again.
  if (Buffer.byteLength(lead.document) > largestRecord - roomAround) return { fault: "it is larger than 1 MiB" };
  return { lead, warnings };
}

/** Whether no cell has anything in it. Of JSON not all values are read. */
function isEmpty({ source }: Row): boolean {
  return typeof source !== "string" && source.every((cell) => firstText(cell) === null);
}

/** A word on columns whose names say nothing, where something may be in them. Of JSON their values are not read. */
function mapHint({ cells, source }: Row, { names, isKept }: Columns): string {
  const mayHold = (number: number) => typeof source === "string" || firstText(cells[number]) !== null;
  const isMissed = names.some((name, number) => !isKept(number) && !isRejectColumn(name) && mayHold(number));
  return isMissed ? " (--map theirs=ours says what its other columns are)" : "";
}

/** Prepares a lead for a store; without a moment of its own it gets the time of import. */
export function prepareLead(id: string, pixelId: string, details: LeadDetails, identifiedMs: number | null): NewLead {
  return {
    id,
    pixelId,
    state: details.state,
    cityKey: details.city === null ? null : cityKey(details.city),
    hasEmail: details.email !== null,
    identifiedMs,
    clamped: false,
    aliases: [],
    document: writeDocument({ id, identified_at: writeMoment(identifiedMs ?? 0), pixel_id: pixelId }, details),
  };
}
