/** A row becomes a lead, or says why it cannot: each field comes from the first of its columns that has a value. */
import { detailFields, type Lead, type LeadDetails, type LeadField } from "../../contract/lead.ts";
import { identifierOf, type PersonIdentifier } from "../../contract/person.ts";
import { isPixelId } from "../../contract/pixel.ts";
import { stateCode } from "../../contract/states.ts";
import { cityKey, readDocument, writeDocument } from "../../contract/stored-lead.ts";
import { formatTime } from "../../contract/time.ts";
import type { NewLead } from "../new-lead.ts";
import {
  type Cell,
  type Found,
  firstText,
  type Indexes,
  maxRecordLength,
  type Row,
  textIn,
  textsOf,
  tooLarge,
} from "../row.ts";
import { type IdentityField, idFromContent, idFromSource, uuid } from "./identity.ts";
import type { ByField, Candidate } from "./layout.ts";
import { type Origin, pairOf } from "./origins.ts";
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
  /** The columns from which its fields came. */
  readonly origin: Origin;
  /** True if the record names a person. */
  readonly namesPerson: boolean;
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
  people: "the record has a list of several people or of contacts of a company, none of whom was read as the visitor",
  visits: "the record has a list of visits; the first was kept",
  "time of day": "the time of day is in no form that is understood, so the visit is at midnight",
  "repeated hour": "the local time occurs twice when clocks change; the earlier one was used",
  "skipped hour": "the local time is skipped when clocks change; it was moved forward by the gap",
} as const;

/** A value that was left out of a lead, or decided for it: a key of the texts, or a text that names people. */
export type Warning = string;

/** Returns a line for each warning, with the number of its rows. */
export function warningLines(counts: ReadonlyMap<Warning, number>): string[] {
  const texts = new Map<string, string>(Object.entries(warningTexts));
  // Those that name people come last.
  const inOrder = [...new Set([...texts.keys(), ...counts.keys()])];
  return inOrder.flatMap((warning) => {
    const count = counts.get(warning);
    if (count === undefined) return [];
    const rows = `${count.toLocaleString("en-US")} ${count === 1 ? "row" : "rows"}`;
    return `${rows}: ${texts.get(warning) ?? warning}.`;
  });
}

/** The bytes that an export adds to a lead. */
const roomAround = 1024;

/** The reason for rejecting a row of empty cells, with which spreadsheets end a sheet. */
export const emptyRow = "it is empty";
export const noPixel = "it has no pixel (--pixel ID sets it)";

/** Returns the lead of a row, or why the row is rejected. The first reason found counts. */
export function readLead(row: Row, rules: LeadRules, nowMs: number): ReadLead {
  const person = personIn(row);
  const read = new Reader(row, person);
  const details = read.details();
  // A date decides the order of its column even if its row is rejected.
  const time = readVisitTime(row, person.of, rules, nowMs);
  // Before all else: no option makes a lead of such a row.
  if (detailFields.every((field) => details[field] === null)) return { fault: faultOfEmpty(row, person) };
  const pixelId = read.text("pixel_id") ?? rules.pixelId;
  if (pixelId === null) return { fault: noPixel };
  if (!isPixelId(pixelId)) return { fault: "its pixel ID is invalid" };
  if ("undecided" in time) return time;
  if ("fault" in time) return { fault: time.fault };
  const own = read.text("id");
  const id =
    own === null
      ? idFromContent({ ...time, account: rules.account, pixelId, details }, rules.identity)
      : idFromSource(own, pixelId);
  const vendorId = own === null || uuid.test(own) ? null : own;
  const { sourceMs, identifiedMs, warning, indexes } = time;
  if (identifiedMs !== null) for (const index of indexes) read.note("identified_at", index);
  const clamped = identifiedMs !== null && identifiedMs !== sourceMs;
  const aliases = readAliases(row, person.of, details);
  const lead = prepareLead(id, pixelId, details, identifiedMs, { clamped, aliases, vendorId });
  // An export must be in a form that can be imported again.
  if (Buffer.byteLength(lead.document) > maxRecordLength - roomAround) return { fault: tooLarge };
  if (warning !== undefined) read.warnings.add(warning);
  return { lead, warnings: [...read.warnings], origin: read.origin, namesPerson: !read.isNobody };
}

/** Returns why a row without a value to keep is rejected. Names --map if the row has values in unknown columns. */
function faultOfEmpty({ cells, layout, source }: Row, { of }: Candidate): string {
  const isOfCsv = typeof source !== "string";
  if (isOfCsv && source.every((cell) => firstText(cell) === null)) return emptyRow;
  if (layout.hasSeveralPeople) return "it has a list of several people, none of whom is known to be the visitor";
  const used = new Set(Object.values(of).flat());
  // Of JSON not all values are read.
  const hasOthers = !isOfCsv || layout.columns.some((_, index) => !used.has(index) && firstText(cells[index]) !== null);
  const hint = hasOthers ? " (--map THEIRS=OURS keeps other columns)" : "";
  return `it has no value except id, identified_at, and pixel_id${hint}`;
}

/** Returns the object that is the person: the first candidate that a value names, or else the one that gives the other fields. */
export function personIn(row: Row): Candidate {
  const { candidates, fallback } = row.layout;
  // Most files have one.
  if (candidates.length === 0 || (candidates.length === 1 && candidates[0] === fallback)) return fallback;
  for (const candidate of candidates) {
    if (candidate.isCrowd) return fallback;
    if (isNamedIn(row, candidate)) return candidate;
  }
  return fallback;
}

function isNamedIn({ cells }: Row, { naming }: Candidate): boolean {
  return naming.some(({ at, target }) => {
    const cell = cells[at];
    if (cell === undefined || cell === "") return false;
    if (target === "email" || target === "verified_email") return firstEmail(cell) !== null;
    return (target === "phone" ? firstPhone(cell) : firstText(cell)) !== null;
  });
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
    origin: null,
    document: writeDocument({ id, identified_at: formatTime(identifiedMs ?? 0), pixel_id: pixelId }, details),
  };
}

/** Returns a lead as it would be served. A lead without a time gets the time of import. */
export function asServed({ document, identifiedMs }: Pick<NewLead, "document" | "identifiedMs">, nowMs: number): Lead {
  const lead = readDocument(document);
  return identifiedMs === null ? { ...lead, identified_at: formatTime(nowMs) } : lead;
}

/** Reads the fields of a lead from a record, records their columns, and warns about values that are left out. */
class Reader {
  readonly warnings = new Set<Warning>();
  /** True if the record names no person. */
  isNobody = false;
  readonly origin: number[] = [];

  constructor(
    private readonly row: Row,
    private readonly person: Candidate,
  ) {}

  /** Reads what a record says of the visitor and the visit. */
  details(): LeadDetails {
    const { of, ofCompany } = this.person;
    const best = this.found("email", firstEmail);
    const verified = this.found("verified_email", firstEmail);
    if (best === null && verified !== null) this.note("email", this.index);
    const phone = this.found("phone", firstPhone);
    const name = this.name();
    this.isNobody = name === null && best === null && verified === null && phone === null;
    const isOfCompany = this.isNobody && textIn(this.row, of.city) === null && textIn(this.row, of.state) === null;
    const location = isOfCompany ? ofCompany : of;
    const details: LeadDetails = {
      name,
      email: (best ?? verified)?.value ?? null,
      verified_email: verified?.value ?? null,
      phone: phone?.value ?? null,
      company: this.text("company"),
      city: this.text("city", location.city),
      state: this.state(location),
      gender: this.text("gender"),
      age_range: this.text("age_range"),
      income_range: this.text("income_range"),
      net_worth: this.text("net_worth"),
      marital_status: this.text("marital_status"),
      homeowner: this.text("homeowner"),
      children: this.text("children"),
      page_url: this.first("page_url", of.page_url, pageOf),
      referrer: this.text("referrer"),
      traffic_source: this.text("traffic_source"),
    };
    this.warnOfPeople();
    return details;
  }

  /** Returns the first text of a field. */
  text(field: LeadField, indexes: Indexes = this.person.of[field]): string | null {
    return this.first(field, indexes, firstText);
  }

  /** Records that a field came from a column. */
  note(field: LeadField, index: number): void {
    const column = this.row.layout.columns[index];
    if (column !== undefined) this.origin.push(pairOf(field, column));
  }

  /** The index of the value that was found last. */
  private index = 0;

  private first<Value>(field: LeadField, indexes: Indexes, find: (cell: Cell) => Value | null): Value | null {
    if (indexes === undefined) return null;
    const { cells } = this.row;
    for (const index of indexes) {
      const cell = cells[index];
      const value = cell === "" ? null : find(cell);
      if (value === null) continue;
      this.index = index;
      this.note(field, index);
      return value;
    }
    return null;
  }

  /** Finds a valid value, and warns if there is none, or if its cell holds more than it. */
  private found(field: "email" | "verified_email" | "phone", find: (cell: Cell) => Found | null): Found | null {
    const indexes = this.person.of[field];
    const found = this.first(field, indexes, find);
    const kind = field === "phone" ? "phone" : "email";
    if (found?.cut === true) this.warnings.add(`further ${kind}`);
    else if (found === null && textIn(this.row, indexes) !== null) this.warnings.add(kind);
    return found;
  }

  /** Even a complete name is not preferred to one half with a shorter path. */
  private name(): string | null {
    for (const indexes of this.person.names) {
      const parts = indexes.map((some) => this.first("name", some, firstText)).filter((part) => part !== null);
      // A family name may be given together with the first name.
      const [one = "", other] = parts;
      if (other?.startsWith(`${one} `)) parts.shift();
      // The halves of a list are a list together, and read like one when they come back from an export.
      if (parts.length > 0) return firstText(parts.join(" "));
    }
    return null;
  }

  /** Returns the state, if the country is the United States or not given. */
  private state({ state, country }: ByField): string | null {
    const text = textIn(this.row, state);
    if (text === null) return null;
    const code = stateCode(text);
    const named = code === null ? null : textIn(this.row, country);
    if (code !== null && (named === null || hasState(named, code))) {
      this.first("state", state, firstText);
      return code;
    }
    this.warnings.add(code === null ? "state" : "country");
    return null;
  }

  private warnOfPeople(): void {
    const { people, hasSeveralVisits } = this.row.layout;
    if (hasSeveralVisits) this.warnings.add("visits");
    if (this.person.isCrowd) this.warnings.add("people");
    if (people.length === 0 || (people.length === 1 && people[0]?.path === this.person.path)) return;
    const isRecord = this.person.path === "";
    const others = people.filter((one) => one.path !== this.person.path && !(one.isTraits && isRecord));
    if (others.some(({ isCrowd }) => isCrowd)) this.warnings.add("people");
    if (this.isNobody) return;
    const unread = others.filter((one) => isNamedIn(this.row, one)).map(({ title }) => title);
    if (unread.length === 0) return;
    const were = unread.length === 1 ? "was" : "were";
    this.warnings.add(
      `the record names several people; ${this.person.title} was read, and ${unread.join(", ")} ${were} not`,
    );
  }
}

/** Returns the addresses and phones of the visitor that are not kept. */
function readAliases(
  row: Row,
  of: ByField,
  { email, verified_email, phone }: LeadDetails,
): readonly PersonIdentifier[] {
  const found: PersonIdentifier[] = [];
  addOthers(found, row, of.email, email, "email");
  addOthers(found, row, of.verified_email, verified_email, "email");
  addOthers(found, row, of.phone, phone, "phone");
  return found;
}

const allIn = { email: allEmails, phone: allPhones };

/** Adds the further identifiers in the columns of a field, without the one that is kept. Most rows have none. */
function addOthers(
  found: PersonIdentifier[],
  { cells }: Row,
  indexes: Indexes,
  kept: string | null,
  kind: "email" | "phone",
): void {
  for (const index of indexes ?? []) {
    const cell = cells[index];
    if (cell === kept || cell === "") continue;
    for (const value of allIn[kind](cell)) if (value !== kept) found.push(identifierOf(kind, value));
  }
}

/** The separator of the pages of a list in one cell. It begins at the first of many blanks, not at each. */
const betweenPages = /(?:[,;|]\s*|(?<![\s,;|])\s+)(?=https?:\/\/)|[,;|]\s+(?=\/)/i;

/** Returns the page. A number in the column of a page is a count of pages. */
function pageOf(cell: Cell): string | null {
  const pages = textsOf(cell).flatMap((text) =>
    betweenPages.test(text) ? text.split(betweenPages).map(firstText) : text,
  );
  return pages.find((page) => page !== null && !/^\d+$/.test(page)) ?? null;
}
