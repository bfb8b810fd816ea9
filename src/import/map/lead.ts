/** A row becomes a lead, or says why it cannot: each field comes from the first of its columns that has a value. */
import { detailFields, type Lead, type LeadDetails } from "../../contract/lead.ts";
import { namesOf } from "../../contract/names.ts";
import { identifierOf, type PersonIdentifier } from "../../contract/person.ts";
import { isPixelId } from "../../contract/pixel.ts";
import { stateCode } from "../../contract/states.ts";
import { cityKey, readDocument, writeDocument } from "../../contract/stored-lead.ts";
import { formatTime } from "../../contract/time.ts";
import type { NewLead } from "../new-lead.ts";
import {
  type Cell,
  type Found,
  first,
  firstText,
  maxRecordLength,
  type Places,
  type Row,
  textIn,
  textsOf,
  tooLarge,
} from "../row.ts";
import type { ByField } from "./columns.ts";
import { type IdentityField, idFromContent, idFromSource, uuid } from "./identity.ts";
import { hasState } from "./values/countries.ts";
import { allEmails, firstEmail } from "./values/emails.ts";
import { allPhones, firstPhone } from "./values/phones.ts";
import { readVisitTime, type TimeRules, type Undecided } from "./visit-time.ts";

/** The rules by which the rows of one import are read. */
export interface LeadRules extends TimeRules {
  /** The ID of the account, which is part of the IDs of rows that have none. */
  readonly account: string;
  /** The pixel of rows that name none. */
  readonly pixelId: string | null;
  /** The fields that tell two rows without an ID apart. */
  readonly identity: readonly IdentityField[];
}

/** A lead, and warnings about omitted values. */
export interface KeptLead {
  readonly lead: NewLead;
  readonly warnings: readonly Warning[];
}

/** The lead of a row; the reason why it is rejected; or the ambiguous date whose column must be resolved first. */
export type ReadLead = KeptLead | { readonly fault: string } | { readonly undecided: Undecided };

const warningTexts = {
  state: "the state is not a US state, so it was left empty",
  country: "the country is not the United States, so the state was left empty",
  email: "the email address is not valid, so it was left empty",
  "further email": "the cell contains other text besides email addresses; the first address was kept",
  phone: "the phone number is not valid, so it was left empty",
  "further phone": "the cell contains several phone numbers or an extension; the first number was kept",
  people: "the record has a list of people; the first was kept",
  visits: "the record has a list of visits; the first was kept",
  values: "two equivalent columns have different values for one field; the first was kept",
  "repeated hour": "the local time occurs twice when clocks change; the earlier one was used",
  "skipped hour": "the local time is skipped when clocks change; it was moved forward by the gap",
} as const;

/** A value that was left out of a lead, or decided for it. */
export type Warning = keyof typeof warningTexts;

/** Returns a line for each warning, with the number of its rows. */
export function warningLines(counts: ReadonlyMap<Warning, number>): string[] {
  return namesOf(warningTexts).flatMap((warning) => {
    const count = counts.get(warning) ?? 0;
    const rows = `${count.toLocaleString("en-US")} ${count === 1 ? "row" : "rows"}`;
    return count === 0 ? [] : [`${rows}: ${warningTexts[warning]}.`];
  });
}

/** The bytes that an export adds to a lead. */
const roomAround = 1024;

/** The reason for rejecting a row of empty cells, with which spreadsheets end a sheet. */
export const emptyRow = "it is empty";
export const noPixel = "it has no pixel (--pixel ID sets it)";

/** Returns the lead of a row, or why the row is rejected. The first reason found counts. */
export function readLead(row: Row, rules: LeadRules, nowMs: number): ReadLead {
  const { of } = row.layout;
  const { details, warnings } = readDetails(row);
  // A date decides the order of its column even if its row is rejected.
  const time = readVisitTime(row, rules, nowMs);
  // Before all else: no option makes a lead of such a row.
  if (detailFields.every((field) => details[field] === null)) return { fault: faultOfEmpty(row) };
  const pixelId = textIn(row, of.pixel_id) ?? rules.pixelId;
  if (pixelId === null) return { fault: noPixel };
  if (!isPixelId(pixelId)) return { fault: "its pixel ID is invalid" };
  if ("fault" in time || "undecided" in time) return time;
  const own = textIn(row, of.id);
  const id =
    own === null
      ? idFromContent({ ...time, account: rules.account, pixelId, details }, rules.identity)
      : idFromSource(own, pixelId);
  const vendorId = own === null || uuid.test(own) ? null : own;
  const { sourceMs, identifiedMs, warning } = time;
  const clamped = identifiedMs !== null && identifiedMs !== sourceMs;
  const aliases = readAliases(row, details);
  const lead = prepareLead(id, pixelId, details, identifiedMs, { clamped, aliases, vendorId });
  // An export must be in a form that can be imported again.
  if (Buffer.byteLength(lead.document) > maxRecordLength - roomAround) return { fault: tooLarge };
  return { lead, warnings: warning === undefined ? warnings : [...warnings, warning] };
}

/** Returns why a row without a value to keep is rejected. Names --map if the row has values in unknown columns. */
function faultOfEmpty({ cells, layout, source }: Row): string {
  const isOfCsv = typeof source !== "string";
  if (isOfCsv && source.every((cell) => firstText(cell) === null)) return emptyRow;
  const used = new Set(Object.values(layout.of).flat());
  // Of JSON not all values are read.
  const hasOthers = !isOfCsv || cells.some((cell, place) => !used.has(place) && firstText(cell) !== null);
  const hint = hasOthers ? " (--map THEIRS=OURS keeps other columns)" : "";
  return `it has no value except id, identified_at, and pixel_id${hint}`;
}

/** Prepares a lead for a store; a lead without a timestamp gets the time of import. */
export function prepareLead(
  id: string,
  pixelId: string,
  details: LeadDetails,
  identifiedMs: number | null,
  { clamped = false, aliases = [], vendorId = null }: Partial<Pick<NewLead, "clamped" | "aliases" | "vendorId">> = {},
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
    document: writeDocument({ id, identified_at: formatTime(identifiedMs ?? 0), pixel_id: pixelId }, details),
  };
}

/** Returns a lead as it would be served. A lead without a time gets the time of import. */
export function asServed({ document, identifiedMs }: Pick<NewLead, "document" | "identifiedMs">, nowMs: number): Lead {
  const lead = readDocument(document);
  return identifiedMs === null ? { ...lead, identified_at: formatTime(nowMs) } : lead;
}

/** Reads what a record says of the visitor and the visit. */
function readDetails(row: Row): { readonly details: LeadDetails; readonly warnings: readonly Warning[] } {
  const { of, ofCompany, ties } = row.layout;
  const best = first(row, of.email, firstEmail);
  const verified = first(row, of.verified_email, firstEmail);
  const phone = first(row, of.phone, firstPhone);
  const name = nameIn(row);
  const isNobody = name === null && best === null && verified === null && phone === null;
  const location = isNobody && textIn(row, of.state) === null ? ofCompany : of;
  const warnings = new Set<Warning>();
  const details: LeadDetails = {
    name,
    email: (best ?? verified)?.value ?? null,
    verified_email: verified?.value ?? null,
    phone: phone?.value ?? null,
    company: textIn(row, of.company),
    city: textIn(row, of.city) ?? (isNobody ? textIn(row, ofCompany.city) : null),
    state: stateIn(row, location, warnings),
    gender: textIn(row, of.gender),
    age_range: textIn(row, of.age_range),
    income_range: textIn(row, of.income_range),
    net_worth: textIn(row, of.net_worth),
    marital_status: textIn(row, of.marital_status),
    homeowner: textIn(row, of.homeowner),
    children: textIn(row, of.children),
    page_url: first(row, of.page_url, pageOf),
    referrer: textIn(row, of.referrer),
    traffic_source: textIn(row, of.traffic_source),
  };
  warnOfLoss(warnings, row, best, of.email, "email");
  warnOfLoss(warnings, row, verified, of.verified_email, "email");
  warnOfLoss(warnings, row, phone, of.phone, "phone");
  for (const other of row.others ?? []) warnings.add(other);
  if (ties.some((places) => differ(row, places))) warnings.add("values");
  return { details, warnings: [...warnings] };
}

/** Adds a warning if a value is not valid, or if its cell holds more than it. */
function warnOfLoss(
  warnings: Set<Warning>,
  row: Row,
  found: Found | null,
  places: Places,
  kind: "email" | "phone",
): void {
  if (found?.cut === true) warnings.add(`further ${kind}`);
  else if (found === null && textIn(row, places) !== null) warnings.add(kind);
}

/** Returns whether some places of one field hold different values. */
function differ({ cells }: Row, places: readonly number[]): boolean {
  return new Set(places.map((place) => firstText(cells[place])).filter((text) => text !== null)).size > 1;
}

/** Returns the addresses and phones of the visitor that are not kept. */
function readAliases(row: Row, { email, verified_email, phone }: LeadDetails): readonly PersonIdentifier[] {
  const { of } = row.layout;
  return [
    ...others(row, of.email, email, "email"),
    ...others(row, of.verified_email, verified_email, "email"),
    ...others(row, of.phone, phone, "phone"),
  ];
}

const allIn = { email: allEmails, phone: allPhones };

/** Returns the further identifiers in the columns of a field, without the one that is kept. Most rows have none. */
function others({ cells }: Row, places: Places, kept: string | null, kind: "email" | "phone"): PersonIdentifier[] {
  return (places ?? []).flatMap((place) => {
    const cell = cells[place];
    if (cell === kept || cell === "") return [];
    return allIn[kind](cell).flatMap((value) => (value === kept ? [] : identifierOf(kind, value)));
  });
}

/** Returns the state of a row, if its country is the United States or not given. */
function stateIn(row: Row, { state, country }: ByField, warnings: Set<Warning>): string | null {
  const text = textIn(row, state);
  if (text === null) return null;
  const code = stateCode(text);
  const named = code === null ? null : textIn(row, country);
  if (code !== null && (named === null || hasState(named, code))) return code;
  warnings.add(code === null ? "state" : "country");
  return null;
}

/** Even a complete name is not preferred to one half with a shorter path: it may be that of another person. */
function nameIn(row: Row): string | null {
  for (const places of row.layout.names) {
    const parts = places.map((some) => textIn(row, some)).filter((part) => part !== null);
    // The halves of a list are a list together, and read like one when they come back from an export.
    if (parts.length > 0) return firstText(parts.join(" "));
  }
  return null;
}

/** The separator of the pages of a list in one cell. It begins at the first of many blanks, not at each. */
const betweenPages = /(?:[,;|]\s*|(?<![\s,;|])\s+)(?=https?:\/\/)|[,;|]\s+(?=\/)/i;

/** A page is a text: a number in its column counts pages. */
function pageOf(cell: Cell): string | null {
  const pages = textsOf(cell).flatMap((text) => text.split(betweenPages).map(firstText));
  return pages.find((page) => page !== null && !/^\d+$/.test(page)) ?? null;
}
