/** What a row says of the visitor and the visit: each field from the first of its columns that has a value. */
import type { LeadDetails } from "../../../contract/lead.ts";
import { emailKey, type PersonIdentifier, phoneKey } from "../../../contract/person.ts";
import { stateCode, states } from "../../../contract/states.ts";
import { type Cell, type Found, textsOf } from "../../parse/cell.ts";
import { type ColumnNumbers, first, firstText, type Row, textIn } from "../../row.ts";
import type { Columns } from "../columns/columns.ts";
import { hasState } from "../values/countries.ts";
import { allEmails, bareEmail, firstEmail } from "../values/emails.ts";
import { allPhones, firstPhone } from "../values/phones.ts";

/** What was left out of a lead: a value that is none of its kind, or what stood beside the value in its cell. */
export type Warning = "state" | "country" | "email" | "beside email" | "phone" | "beside phone" | "others";

interface ReadDetails {
  readonly details: LeadDetails;
  /** Addresses and phones of the visitor that are not kept. */
  readonly aliases: readonly PersonIdentifier[];
  readonly warnings: readonly Warning[];
}

/** The fields of a row, and what they leave out. */
export function readDetails(row: Row, columns: Columns): ReadDetails {
  const { of } = columns;
  const best = first(row, of.email, emailOf);
  const verified = first(row, of.verified_email, emailOf);
  const phone = first(row, of.phone, phoneOf);
  const place = readState(row, columns);
  const details: LeadDetails = {
    name: textIn(row, of.name) ?? nameOf(textIn(row, of.first_name), textIn(row, of.last_name)),
    email: best?.value ?? verified?.value ?? null,
    verified_email: verified?.value ?? null,
    phone: phone?.value ?? null,
    company: textIn(row, of.company),
    city: textIn(row, of.city),
    state: place.state,
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
  const isLost = (found: Found | null, numbers: ColumnNumbers) => found === null && textIn(row, numbers) !== null;
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
  const some = beside(row, of.email, email, allEmails);
  const verified = beside(row, of.verified_email, verified_email, allEmails);
  const phones = beside(row, of.phone, phone, allPhones);
  if (some.length + verified.length + phones.length === 0) return nothing;
  return [
    ...[...some, ...verified].map((text): PersonIdentifier => ({ kind: "email", value: emailKey(text) })),
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

const nowhere: Place = { state: null, warning: null };

/** The state of a row, where its country is the United States or is not told. */
function readState(row: Row, columns: Columns): Place {
  const { of } = columns;
  const text = textIn(row, of.state);
  if (text === null) return nowhere;
  // A code is what it stands for, and most files have no other text here.
  const state = Object.hasOwn(states, text) ? text : stateCode(text);
  if (state === null) return { state, warning: "state" };
  if (of.country === undefined) return { state, warning: null };
  // A company's country says nothing of a state that is the visitor's.
  const number = of.state?.find((candidate) => firstText(row.cells[candidate]) !== null) ?? -1;
  const country = textIn(
    row,
    of.country.filter((other) => columns.isStandIn(other) === columns.isStandIn(number)),
  );
  return country === null || hasState(country, state) ? { state, warning: null } : { state: null, warning: "country" };
}

function nameOf(firstName: string | null, lastName: string | null): string | null {
  // The halves of a list are a list together, and read like one when they come back from an export.
  return firstText([firstName, lastName].filter((part) => part !== null).join(" "));
}

/** The first address in a cell, which in nearly all is all there is. */
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
