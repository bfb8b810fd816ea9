/**
 * A row becomes a lead, or it says why it cannot. Its id is kept, derived from the source's, or made from what the row says
 * (decisions on what a lead is).
 */
import { createHash } from "node:crypto";
import { cityKey, type DetailField, detailFields, type LeadDetails, writeDocument } from "../../contract/lead.ts";
import { isPixelId } from "../../contract/pixel.ts";
import { writeMoment } from "../../contract/time.ts";
import type { NewLead } from "../../store/imports.ts";
import { type Columns, isRejectColumn } from "../columns/columns.ts";
import { firstText, largestRecord, type Row, textIn } from "../row.ts";
import { readDetails, type Warning } from "./details.ts";
import { readVisitTime, type TimeRules, type VisitTime } from "./visit-time.ts";

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
  const pixelId = textIn(row, columns.of.pixel_id) ?? rules.pixelId;
  if (pixelId === null) return { fault: "it names no pixel (--pixel ID is for such rows)" };
  if (!isPixelId(pixelId)) return { fault: "its pixel has an id that cannot be one" };
  const time = readVisitTime(row, columns, rules, nowMs);
  if ("fault" in time) return time;
  const ownId = textIn(row, columns.of.id);
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

/** A UUID as sources write it, in either case. */
export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A source's own id: a UUID is kept in lower case, any other text becomes one by its SHA-256. */
export function idFromSource(text: string): string {
  return uuid.test(text) ? text.toLowerCase() : writeUuid(sha256(text));
}

/** What tells two rows without an id apart. */
export type IdentityField = DetailField | "identified_at";

/** All of it: rows that differ in anything are two leads. */
export const wholeIdentity: readonly IdentityField[] = ["identified_at", ...detailFields];

/** A row that has no id of its own. */
interface RowWithoutId extends Pick<VisitTime, "sourceMs" | "wrongTime"> {
  readonly account: string;
  readonly pixelId: string;
  readonly details: LeadDetails;
}

/**
 * The id of a row that has none, from its account, its pixel and some of its fields: the same file again changes
 * nothing. A row in which all of those fields are empty is told apart by everything, lest strangers become one.
 */
export function idFromContent(row: RowWithoutId, identity: readonly IdentityField[]): string {
  const { account, pixelId, details, sourceMs, wrongTime } = row;
  const isEmpty = identity.every((field) => (field === "identified_at" ? sourceMs : details[field]) === null);
  if (isEmpty && identity !== wholeIdentity) return idFromContent(row, wholeIdentity);
  const fields = identity.filter((field) => field !== "identified_at");
  const isTimed = identity.includes("identified_at");
  const text = isTimed && wrongTime !== undefined ? [wrongTime] : [];
  const hash = sha256(JSON.stringify([account, pixelId, ...fields.map((field) => details[field]), ...text]));
  // 48 bits of milliseconds in front put new ids at the end of their index; a time before 1970 has no place there.
  const timed = isTimed ? (sourceMs ?? 0) : 0;
  hash.writeUIntBE(Math.max(0, timed), 0, 6);
  return writeUuid(hash);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Writes the first 16 bytes as a UUID of version 8 (RFC 9562). */
function writeUuid(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex", 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
