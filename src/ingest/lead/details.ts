/** What a row says of the visitor and the visit: each field from the first of its columns that has a value. */
import { emailKey, type LeadDetails, type PersonIdentifier, phoneKey } from "../../contract/lead.ts";
import { stateCode } from "../../contract/states.ts";
import type { Columns } from "../columns/columns.ts";
import { type Cell, type ColumnNumbers, type Found, first, firstText, type Row, textsOf } from "../row.ts";
import { hasState } from "../values/countries.ts";
import { allEmails, firstEmail } from "../values/emails.ts";
import { allPhones, firstPhone } from "../values/phones.ts";

/** What was left out of a lead: a value that is none of its kind, or what stood beside the value in its cell. */
export type Warning = "state" | "country" | "email" | "beside email" | "phone" | "beside phone" | "others";

export interface ReadDetails {
  readonly details: LeadDetails;
  /** Addresses and phones of the visitor that are not kept. */
  readonly aliases: readonly PersonIdentifier[];
  readonly warnings: readonly Warning[];
}

const emailOf = (cell: Cell) => firstEmail(textsOf(cell));
const phoneOf = (cell: Cell) => firstPhone(textsOf(cell));

/** The fields of a row, and what they leave out. */
export function readDetails(row: Row, columns: Columns): ReadDetails {
  const { of } = columns;
  const text = (numbers: ColumnNumbers) => first(row, numbers, firstText);
  const best = first(row, of.email, emailOf);
  const verified = first(row, of.verified_email, emailOf);
  const phone = first(row, of.phone, phoneOf);
  const place = readState(row, columns);
  const details: LeadDetails = {
    name: text(of.name) ?? nameOf(text(of.first_name), text(of.last_name)),
    email: best?.value ?? verified?.value ?? null,
    verified_email: verified?.value ?? null,
    phone: phone?.value ?? null,
    company: text(of.company),
    city: text(of.city),
    state: place.state,
    gender: text(of.gender),
    age_range: text(of.age_range),
    income_range: text(of.income_range),
    net_worth: text(of.net_worth),
    marital_status: text(of.marital_status),
    homeowner: text(of.homeowner),
    children: text(of.children),
    page_url: first(row, of.page_url, firstPage),
    referrer: text(of.referrer),
    traffic_source: text(of.traffic_source),
  };
  const isLost = (found: Found | null, numbers: ColumnNumbers) => found === null && text(numbers) !== null;
  const warnings: Warning[] = place.warning === null ? [] : [place.warning];
  if (isLost(best, of.email) || isLost(verified, of.verified_email)) warnings.push("email");
  if (best?.cut || verified?.cut) warnings.push("beside email");
  if (isLost(phone, of.phone)) warnings.push("phone");
  if (phone?.cut) warnings.push("beside phone");
  if (row.holdsOthers === true) warnings.push("others");
  return { details, aliases: readAliases(row, columns, details), warnings };
}

const nothing: readonly never[] = [];

function readAliases(row: Row, { of }: Columns, details: LeadDetails): readonly PersonIdentifier[] {
  const { email, verified_email, phone } = details;
  const emails = beside(row, of.email, email, allEmails).concat(
    beside(row, of.verified_email, verified_email, allEmails),
  );
  const phones = beside(row, of.phone, phone, allPhones);
  if (emails.length + phones.length === 0) return nothing;
  return [
    ...emails.map((text): PersonIdentifier => ({ kind: "email", value: emailKey(text) })),
    ...phones.map((digits): PersonIdentifier => ({ kind: "phone", value: phoneKey(digits) })),
  ];
}

/** What the columns of a field have beside the value that is kept. Most rows have nothing else. */
function beside(
  { cells }: Row,
  numbers: ColumnNumbers,
  kept: string | null,
  all: (texts: readonly string[]) => string[],
): readonly string[] {
  let others: readonly string[] = nothing;
  for (const number of numbers ?? nothing) {
    const cell = cells[number];
    if (cell !== kept && cell !== "") others = others.concat(all(textsOf(cell)).filter((value) => value !== kept));
  }
  return others;
}

interface Place {
  readonly state: string | null;
  readonly warning: Warning | null;
}

/** The state of a row, where its country is the United States or is not told. */
function readState(row: Row, columns: Columns): Place {
  const number = columns.of.state?.find((candidate) => firstText(row.cells[candidate]) !== null);
  const text = number === undefined ? null : firstText(row.cells[number]);
  if (number === undefined || text === null) return { state: null, warning: null };
  const state = stateCode(text);
  if (state === null) return { state, warning: "state" };
  // A company's country says nothing of a state that is the visitor's.
  const beside = columns.of.country?.filter((other) => columns.isStandIn(other) === columns.isStandIn(number));
  const country = first(row, beside, firstText);
  return country === null || hasState(country, state) ? { state, warning: null } : { state: null, warning: "country" };
}

function nameOf(firstName: string | null, lastName: string | null): string | null {
  // The halves of a list are a list together, and read like one when they come back from an export.
  return firstText([firstName, lastName].filter((part) => part !== null).join(" "));
}

/** What stands between the pages of a list in one cell. It begins at the first of many blanks, not at each. */
const betweenPages = /(?:[,;|]\s*|(?<![\s,;|])\s+)(?=https?:\/\/)|[,;|]\s+(?=\/)/i;

/** A page is a text: a number in its column counts pages. */
function firstPage(cell: Cell): string | null {
  const pages = textsOf(cell).flatMap((text) => text.split(betweenPages).map((page) => page.trim()));
  return pages.find((page) => page !== "" && !/^\d+$/.test(page)) ?? null;
}
