/** A row becomes a lead, or it says why it cannot (decisions on what a lead is). */
import { type DetailField, detailFields, type LeadDetails } from "../contract/lead.ts";
import { isPixelId } from "../contract/pixel.ts";
import type { NewLead } from "../store/imports.ts";
import type { Columns } from "./columns.ts";
import { idFromContent, idFromSource } from "./identity.ts";
import { prepareLead } from "./new-lead.ts";
import { largestRecord, type Row } from "./row.ts";
import { readTime, type TimeReading } from "./times.ts";
import { type Cell, firstEmail, firstPage, firstPhone, firstText, stateCode, textsOf } from "./values.ts";
import type { Target } from "./vocabulary.ts";

/** How rows are read in one import. */
export interface LeadRules extends TimeReading {
  /** The id of the account, which goes into the ids of rows that have none. */
  readonly account: string;
  /** For rows that name no pixel. */
  readonly pixelId: string | null;
  /** The fields that tell two rows without an id apart. */
  readonly identity: readonly DetailField[];
  /** Whose time a lead gets. */
  readonly stamp: "source" | "arrival";
}

/** Values that were left out, by what they should have been. */
export type Warning = "state" | "email";

export type ReadLead =
  | { readonly lead: NewLead; readonly clamped: boolean; readonly warnings: readonly Warning[] }
  | { readonly fault: string };

/** Clocks differ a little: a time so far ahead is taken as now, one further ahead is wrong. */
const toleranceMs = 5 * 60_000;
/** For the id and the time, which stand before the rest of a lead. */
const roomForHead = 1024;

export function readLead(row: Row, columns: Columns, rules: LeadRules, nowMs: number): ReadLead {
  if (row.fault !== null) return { fault: row.fault };
  if (row.cells.some(hasNul)) return { fault: "it holds a NUL" };
  const cellsOf = (target: Target) => columns.of(target).map((number) => row.cells[number]);
  const pixelId = first(cellsOf("pixel_id"), firstText) ?? rules.pixelId;
  if (pixelId === null) return { fault: "it names no pixel (--pixel ID is for such rows)" };
  if (!isPixelId(pixelId)) return { fault: "its pixel has an id that cannot be one" };
  const { details, warnings } = readDetails(cellsOf);
  if (detailFields.every((field) => details[field] === null)) {
    return { fault: "it is empty beside id, identified_at and pixel_id" };
  }
  const time = readMomentOf(timeText(cellsOf("identified_at")), rules, nowMs);
  if ("fault" in time) return time;
  const ownId = first(cellsOf("id"), firstText);
  const id =
    ownId === null
      ? idFromContent(rules.account, pixelId, details, rules.identity, time.sourceMs)
      : idFromSource(ownId);
  const lead = prepareLead(id, pixelId, details, time.identifiedMs);
  // What comes in must be able to go out and come in again.
  if (Buffer.byteLength(lead.tail) > largestRecord - roomForHead) return { fault: "it is larger than 1 MiB" };
  return { lead, clamped: time.clamped, warnings };
}

function hasNul(cell: Cell): boolean {
  return (
    cell !== undefined && (typeof cell === "string" ? cell.includes("\0") : cell.some((text) => text.includes("\0")))
  );
}

/** The first cell that yields something. */
function first(cells: readonly Cell[], read: (cell: Cell) => string | null): string | null {
  for (const cell of cells) {
    const value = read(cell);
    if (value !== null) return value;
  }
  return null;
}

type CellsOf = (target: Target) => readonly Cell[];

function readDetails(cellsOf: CellsOf): { details: LeadDetails; warnings: Warning[] } {
  const text = (target: Target) => first(cellsOf(target), firstText);
  const email = (target: Target) => first(cellsOf(target), (cell) => firstEmail(textsOf(cell)));
  const verified = email("verified_email");
  const best = email("email");
  const place = text("state");
  const state = place === null ? null : stateCode(place);
  const warnings: Warning[] = [];
  if (place !== null && state === null) warnings.push("state");
  if ((best === null && text("email") !== null) || (verified === null && text("verified_email") !== null)) {
    warnings.push("email");
  }
  const details: LeadDetails = {
    name: text("name") ?? nameOf(text("first_name"), text("last_name")),
    email: best ?? verified,
    verified_email: verified,
    phone: first(cellsOf("phone"), (cell) => firstPhone(textsOf(cell))),
    company: text("company"),
    city: text("city"),
    state,
    gender: text("gender"),
    age_range: text("age_range"),
    income_range: text("income_range"),
    net_worth: text("net_worth"),
    marital_status: text("marital_status"),
    homeowner: text("homeowner"),
    children: text("children"),
    page_url: first(cellsOf("page_url"), firstPage),
    referrer: text("referrer"),
    traffic_source: text("traffic_source"),
  };
  return { details, warnings };
}

function nameOf(firstName: string | null, lastName: string | null): string | null {
  // The halves of a list are a list together, and read like one when they come back from an export.
  return firstText([firstName, lastName].filter((part) => part !== null).join(" "));
}

/** The text of the time; a date and a time of day in two columns are one. */
function timeText(cells: readonly Cell[]): string | null {
  const texts = cells.map(firstText).filter((text) => text !== null);
  const day = texts.find((text) => /^[\d/.-]{8,10}$/.test(text));
  const clock = texts.find((text) => /^\d{1,2}:\d{2}\b/.test(text));
  const inTwo = day !== undefined && clock !== undefined && (texts[0] === day || texts[0] === clock);
  return inTwo ? `${day} ${clock}` : (texts[0] ?? null);
}

type ReadMoment =
  | { readonly identifiedMs: number | null; readonly sourceMs: number | null; readonly clamped: boolean }
  | { readonly fault: string };

function readMomentOf(text: string | null, rules: LeadRules, nowMs: number): ReadMoment {
  if (text === null) return { identifiedMs: null, sourceMs: null, clamped: false };
  const time = readTime(text, rules);
  if ("fault" in time) return { fault: `${time.fault}: ${JSON.stringify(text.slice(0, 60))}` };
  if (rules.stamp === "arrival") return { identifiedMs: null, sourceMs: time.ms, clamped: false };
  if (time.ms > nowMs + toleranceMs) return { fault: `its time lies ahead of the clock: ${JSON.stringify(text)}` };
  return { identifiedMs: Math.min(time.ms, nowMs), sourceMs: time.ms, clamped: time.ms > nowMs };
}
