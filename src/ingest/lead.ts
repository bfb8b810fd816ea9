/** A row becomes a lead, or it says why it cannot (decisions on what a lead is). */
import { detailFields } from "../contract/lead.ts";
import { isPixelId } from "../contract/pixel.ts";
import { writeMoment } from "../contract/time.ts";
import type { NewLead } from "../store/imports.ts";
import type { Columns } from "./columns.ts";
import { first, readDetails, type Warning } from "./details.ts";
import { type IdentityField, idFromContent, idFromSource } from "./identity.ts";
import { prepareLead } from "./new-lead.ts";
import { largestRecord, type Row } from "./row.ts";
import type { TimeReading } from "./times.ts";
import { firstText } from "./values.ts";
import { readVisitTime } from "./visit-time.ts";

/** How rows are read in one import. */
export interface LeadRules extends TimeReading {
  /** The id of the account, which goes into the ids of rows that have none. */
  readonly account: string;
  /** For rows that name no pixel. */
  readonly pixelId: string | null;
  /** The fields that tell two rows without an id apart. */
  readonly identity: readonly IdentityField[];
  /** Whose time a lead gets. */
  readonly stamp: "source" | "arrival";
  /** Whether a row that is stamped on arrival may have a time that cannot be read: nobody is there to mend it. */
  readonly mayHaveWrongTime: boolean;
}

export type ReadLead =
  | { readonly lead: NewLead; readonly clamped: boolean; readonly warnings: readonly Warning[] }
  | { readonly fault: string };

/** Clocks differ a little: a time so far ahead is taken as now, one further ahead is wrong. */
const toleranceMs = 5 * 60_000;
/** For what stands around a lead in a file that is exported. */
const roomAround = 1024;

export function readLead(row: Row, columns: Columns, rules: LeadRules, nowMs: number): ReadLead {
  if (row.fault !== null) return { fault: row.fault };
  const pixelId = first(row, columns.of.pixel_id, firstText) ?? rules.pixelId;
  if (pixelId === null) return { fault: "it names no pixel (--pixel ID is for such rows)" };
  if (!isPixelId(pixelId)) return { fault: "its pixel has an id that cannot be one" };
  const { details, warnings } = readDetails(row, columns);
  if (detailFields.every((field) => details[field] === null)) {
    return { fault: "it is empty beside id, identified_at and pixel_id" };
  }
  const time = readMoment(row, columns, rules, nowMs);
  if ("fault" in time) return time;
  const ownId = first(row, columns.of.id, firstText);
  const id =
    ownId === null
      ? idFromContent({ ...time, account: rules.account, pixelId, details }, rules.identity)
      : idFromSource(ownId);
  const lead = prepareLead(id, pixelId, details, time.identifiedMs);
  // What comes in must be able to go out and come in again.
  if (Buffer.byteLength(lead.document) > largestRecord - roomAround) return { fault: "it is larger than 1 MiB" };
  return { lead, clamped: time.clamped, warnings };
}

type ReadMoment =
  | {
      readonly identifiedMs: number | null;
      readonly sourceMs: number | null;
      readonly wrongTime?: string;
      readonly clamped: boolean;
    }
  | { readonly fault: string };

function readMoment(row: Row, columns: Columns, rules: LeadRules, nowMs: number): ReadMoment {
  const time = readVisitTime(row, columns, rules);
  if (time === null) return { identifiedMs: null, sourceMs: null, clamped: false };
  if ("fault" in time) {
    const isNeeded = rules.stamp === "source" || !rules.mayHaveWrongTime;
    return isNeeded ? time : { identifiedMs: null, sourceMs: null, wrongTime: time.fault, clamped: false };
  }
  if (rules.stamp === "arrival") return { identifiedMs: null, sourceMs: time.ms, clamped: false };
  if (time.ms > nowMs + toleranceMs) {
    return { fault: `its time lies ahead of the clock: ${JSON.stringify(writeMoment(time.ms))}` };
  }
  return { identifiedMs: Math.min(time.ms, nowMs), sourceMs: time.ms, clamped: time.ms > nowMs };
}
