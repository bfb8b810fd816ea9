/** What a record says of the visitor and the visit: each field from the first of its columns that has a value. */
import type { LeadDetails } from "../../contract/lead.ts";
import { emailKey, type PersonIdentifier, phoneKey } from "../../contract/person.ts";
import { stateCode, states } from "../../contract/states.ts";
import { type Cell, type ColumnNumbers, type Found, first, firstText, type Row, textIn, textsOf } from "../row.ts";
import { hasState } from "./values/countries.ts";
import { allEmails, bareEmail, firstEmail } from "./values/emails.ts";
import { allPhones, firstPhone } from "./values/phones.ts";
import type { Warning } from "./warnings.ts";

const nothing: readonly never[] = [];

interface ReadDetails {
  readonly details: LeadDetails;
  /** Addresses and phones of the visitor that are not kept. */
  readonly aliases: readonly PersonIdentifier[];
  readonly warnings: readonly Warning[];
}

/** Reads the fields of a record, and what they leave out. */
export function readDetails(row: Row): ReadDetails {
  const { of, ofCompany, ties } = row.layout;
  const best = first(row, of.email, emailOf);
  const verified = first(row, of.verified_email, emailOf);
  const phone = first(row, of.phone, phoneOf);
  const name = textIn(row, of.name) ?? nameOf(textIn(row, of.first_name), textIn(row, of.last_name));
  const isNobody = [name, best, verified, phone].every((value) => value === null);
  const place =
    readState(row, of.state, of.country) ?? (isNobody ? readState(row, ofCompany.state, ofCompany.country) : null);
  const details: LeadDetails = {
    name,
    email: (best ?? verified)?.value ?? null,
    verified_email: verified?.value ?? null,
    phone: phone?.value ?? null,
    company: textIn(row, of.company),
    city: textIn(row, of.city) ?? (isNobody ? textIn(row, ofCompany.city) : null),
    state: place?.state ?? null,
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
  const warnings: Warning[] = place?.warning === undefined ? [] : [place.warning];
  warn(warnings, row, best, of.email, "email");
  warn(warnings, row, verified, of.verified_email, "email");
  warn(warnings, row, phone, of.phone, "phone");
  if (row.others !== undefined) warnings.push(...row.others);
  if (ties.some((places) => differ(row, places))) warnings.push("values");
  return { details, aliases: readAliases(row, details), warnings };
}

/** Adds a warning for what a field leaves out: a value that is not valid, or what is next to the value in its cell. */
function warn(
  warnings: Warning[],
  row: Row,
  found: Found | null,
  numbers: ColumnNumbers,
  kind: "email" | "phone",
): void {
  const isLost = found === null && textIn(row, numbers) !== null;
  const warning = isLost ? kind : (`beside ${kind}` as const);
  if ((isLost || found?.cut === true) && !warnings.includes(warning)) warnings.push(warning);
}

/** Returns whether some places of one field hold different values. */
function differ({ cells }: Row, places: readonly number[]): boolean {
  const texts = places.map((place) => firstText(cells[place])).filter((text) => text !== null);
  return texts.some((text) => text !== texts[0]);
}

function readAliases(row: Row, details: LeadDetails): readonly PersonIdentifier[] {
  const { of } = row.layout;
  const { email, verified_email, phone } = details;
  const some = beside(row, of.email, email, allEmails);
  const verified = beside(row, of.verified_email, verified_email, allEmails);
  const phones = beside(row, of.phone, phone, allPhones);
  if (some.length + verified.length + phones.length === 0) return nothing;
  return [
    ...[...some, ...verified].map((text): PersonIdentifier => ({ kind: "email", value: emailKey(text) })),
    ...phones.map((digits): PersonIdentifier => ({ kind: "phone", value: phoneKey(digits) })),
  ];
}

/** Returns what the columns of a field have beside the value that is kept. Most rows have nothing else. */
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

/** Reads the state of a row, if its country is the United States or not given; null if it has none. */
function readState(
  row: Row,
  ofState: ColumnNumbers,
  ofCountry: ColumnNumbers,
): { readonly state: string | null; readonly warning?: Warning } | null {
  const text = textIn(row, ofState);
  if (text === null) return null;
  // A code is what it stands for, and most files have no other text here.
  const state = Object.hasOwn(states, text) ? text : stateCode(text);
  if (state === null) return { state, warning: "state" };
  const country = textIn(row, ofCountry);
  return country === null || hasState(country, state) ? { state } : { state: null, warning: "country" };
}

function nameOf(firstName: string | null, lastName: string | null): string | null {
  // The halves of a list are a list together, and read like one when they come back from an export.
  return firstText([firstName, lastName].filter((part) => part !== null).join(" "));
}

/** Reads the first address in a cell, which in nearly all is all there is. */
function emailOf(cell: Cell): Found | null {
  const isPlain = typeof cell === "string" && bareEmail.test(cell);
  return isPlain ? { value: cell.toWellFormed(), cut: false } : firstEmail(textsOf(cell));
}

/** A phone number as it is kept, and as most files have it. */
const bareDigits = /^\d{7,15}$/;

function phoneOf(cell: Cell): Found | null {
  const isPlain = typeof cell === "string" && bareDigits.test(cell);
  return isPlain ? { value: cell, cut: false } : firstPhone(textsOf(cell));
}

/** A page, and nothing that could stand between two of them. */
const barePage = /^https?:\/\/[^\s,;|]+$/;
/** What stands between the pages of a list in one cell. It begins at the first of many blanks, not at each. */
const betweenPages = /(?:[,;|]\s*|(?<![\s,;|])\s+)(?=https?:\/\/)|[,;|]\s+(?=\/)/i;

/** A page is a text: a number in its column counts pages. */
function pageOf(cell: Cell): string | null {
  if (typeof cell === "string" && barePage.test(cell)) return cell.toWellFormed();
  const pages = textsOf(cell).flatMap((text) => text.split(betweenPages).map(firstText));
  return pages.find((page) => page !== null && !/^\d+$/.test(page)) ?? null;
}
