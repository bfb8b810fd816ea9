/** Leads as a model may see them: only texts of known shapes are shown, without the person, and page addresses without a query. */
import { printable } from "../../client/program/terminal.ts";
import type { Lead } from "../../client/src/leadfile.ts";
import { personMask } from "./person.ts";
import { isAgeRange, isAmountRange, isPixelId, isUuid, withKnownShapes } from "./shapes.ts";

/** One text of a lead, as it is shown. */
export type Show = (field: keyof Lead, lead: Partial<Lead>) => string | null;

const addresses: ReadonlySet<keyof Lead> = new Set(["page_url", "referrer"]);

/** Fields whose values have a known shape. Any other value is masked whole. */
const shapes: Partial<Record<keyof Lead, (text: string) => boolean>> = {
  id: isUuid,
  identified_at: (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/.test(text),
  state: (text) => /^[A-Z]{2}$/i.test(text),
  age_range: isAgeRange,
  income_range: isAmountRange,
  net_worth: isAmountRange,
};

/** A visitor can make texts of any length, and the search in them takes longer than their length. */
const maxTextLength = 2_000;

const anEmail = /[^\s/@"'<>:;,?&=#]+@[^\s/@"'<>:;,?&=#]+/gu;

/** The masks of leads that are being shown. A lead is shown field by field. */
const masks = new WeakMap<Partial<Lead>, (text: string) => string>();

/** Everything except the queries of page addresses. */
export const revealed: Show = (field, lead) => {
  const text = lead[field] ?? null;
  return text !== null && isAddress(field, text) ? withoutQuery(text) : text;
};

/** Names, email addresses, and phones are masked, wherever they are in the lead, and so is every text of an unknown shape. */
export const masked: Show = (field, lead) => {
  const text = lead[field] ?? null;
  if (text === null) return null;
  const hasShape = shapes[field];
  if (hasShape !== undefined) return hasShape(text) ? text : "…";
  if (field === "name") return text.split(/\s+/u).map(initial).join(" ");
  if (field === "phone") return maskPhone(text);
  if (field === "email" || field === "verified_email") return maskEmail(text);
  if (field === "pixel_id") return isUuid(text) || isPixelId(text) ? maskPersons(text, lead) : "…";
  const clean = isAddress(field, text) ? withoutQuery : (whole: string) => whole;
  const mask = (part: string) => maskPersons(part, lead);
  // Before the decoding, too: a stray % and two letters of a name look encoded. After it a ? begins a query.
  return withKnownShapes(mask(clean(decoded(mask(clean(beginningOf(text)))))));
};

function maskPersons(text: string, lead: Partial<Lead>): string {
  const maskPerson = masks.getOrInsertComputed(lead, () => personMask(lead));
  // Full-width letters and digits become those that the patterns know. What is masked already stays.
  const plain = text.replace(/[^…]+/g, (part) => part.normalize("NFKC"));
  return maskPerson(plain.replace(anEmail, maskEmail));
}

/**
 * A text of at most some letters, as data: without control characters, which nobody sees, and without the brackets of
 * markup, with which it could pretend to be a part of the conversation.
 */
export function cut(text: string, maxLength: number): string {
  const letters = [...printable(text).replaceAll("<", "‹").replaceAll(">", "›")];
  return letters.length > maxLength ? `${letters.slice(0, maxLength).join("")}…` : letters.join("");
}

/** A source may be an address as well. */
function isAddress(field: keyof Lead, text: string): boolean {
  return addresses.has(field) || (field === "traffic_source" && text.includes("://"));
}

/** Origin and path: everything before the first ? or #, without a user and a password. */
function withoutQuery(text: string): string {
  const [address = ""] = text.split(/[?#]/, 1);
  return address.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*@/i, "$1//");
}

/** Cut at a slash: half of an email address or a phone would not be found. */
function beginningOf(text: string): string {
  if (text.length <= maxTextLength) return text;
  const cut = text.slice(0, maxTextLength);
  return `${cut.slice(0, cut.lastIndexOf("/") + 1)}…`;
}

/** Decodes percent-encoding as often as it was applied, sequence by sequence. A stray % stays. */
function decoded(text: string): string {
  const once = text
    .replace(/%u([\da-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString("utf8"));
  return once === text ? text : decoded(once);
}

/** d…@e… */
function maskEmail(text: string): string {
  return text.split("@").map(initial).join("@");
}

/** +1 … 23 */
function maskPhone(text: string): string {
  const digits = text.replaceAll(/\D/g, "");
  if (digits.length < 7) return "…";
  const isOfUs = digits.length === 10 || (digits.length === 11 && digits.startsWith("1"));
  return `${isOfUs ? "+1 " : ""}… ${digits.slice(-2)}`;
}

function initial(word: string): string {
  const [first = ""] = word;
  return `${first}…`;
}
