/** Leads as a model may see them: persons are masked, and page addresses have no query. */

import { printable } from "../../client/program/terminal.ts";
import type { Lead } from "../../client/src/leadfile.ts";

/** One text of a lead, as it is shown. */
export type Show = (field: keyof Lead, lead: Partial<Lead>) => string | null;

const addresses: ReadonlySet<keyof Lead> = new Set(["page_url", "referrer"]);
/** Free text, in which anything may stand. */
const freeText: ReadonlySet<keyof Lead> = new Set(["page_url", "referrer", "traffic_source", "company"]);
/** Fields that name no person. */
const impersonal: ReadonlySet<keyof Lead> = new Set(["id", "identified_at", "pixel_id"]);

/** A visitor may write texts without end. To look for persons in them would take the square of their length. */
const longestText = 2_000;
const longestWhole = 200;

const anEmail = /[^\s/@"'<>:;,?&=#]+@[^\s/@"'<>:;,?&=#]+/gu;
const aPhone = /\+?\d(?:[\s().-]{0,2}\d){9,}/g;

/** All of it, but the queries of page addresses. */
export const revealed: Show = (field, lead) => {
  const text = lead[field] ?? null;
  return text !== null && isAddress(field, text) ? withoutQuery(text) : text;
};

/** Names, e-mail addresses and phones are masked, wherever they stand in the lead. */
export const masked: Show = (field, lead) => {
  const text = lead[field] ?? null;
  if (text === null || impersonal.has(field)) return text;
  if (field === "name") return maskName(text);
  if (field === "phone") return maskPhone(text);
  if (field === "email" || field === "verified_email") return maskEmail(text);
  const shown = beginningOf(isAddress(field, text) ? withoutQuery(text) : text);
  const unnamed = withoutPerson(freeText.has(field) ? decoded(shown) : shown, lead).replace(anEmail, maskEmail);
  return freeText.has(field) ? unnamed.replace(aPhone, maskPhone) : unnamed;
};

/** A text, cut to some letters. Those that nobody sees could tell a model what the person beside it cannot read. */
export function cut(text: string, longest: number): string {
  const letters = [...printable(text)];
  return letters.length > longest ? `${letters.slice(0, longest).join("")}…` : letters.join("");
}

/** A source may be an address as well. */
function isAddress(field: keyof Lead, text: string): boolean {
  return addresses.has(field) || (field === "traffic_source" && text.includes("://"));
}

/** Origin and path: what stands before the first ? or #, without a user and a password. */
function withoutQuery(text: string): string {
  const [address = ""] = text.split(/[?#]/, 1);
  return address.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*@/i, "$1//");
}

/** Cut at a slash: half of an e-mail address or a phone would not be recognised, nor masked. */
function beginningOf(text: string): string {
  if (text.length <= longestText) return text;
  const cut = text.slice(0, longestText);
  return `${cut.slice(0, cut.lastIndexOf("/") + 1)}…`;
}

/** What stands in an address may be encoded more than once; what cannot be decoded stays. */
function decoded(text: string): string {
  try {
    const once = decodeURIComponent(text);
    return once === text ? text : decoded(once);
  } catch {
    return text;
  }
}

/** The lead's own name, mailbox and phone, however their parts are put together. */
function withoutPerson(text: string, { name, email, verified_email: verified, phone }: Partial<Lead>): string {
  const words = name?.match(/[\p{L}\p{N}]+/gu) ?? [];
  const mailboxes = [email, verified].map((address) => address?.split("@", 1)[0] ?? "");
  const wholes = [words, words.toReversed(), ...mailboxes.map((box) => box.match(/[\p{L}\p{N}]+/gu) ?? [])];
  const isWhole = (parts: readonly string[]) => parts.join("").length > 3 && parts.join("").length <= longestWhole;
  const patterns = wholes.filter(isWhole).map((parts) => parts.join("[^\\p{L}\\p{N}]*"));
  const digits = phone?.replaceAll(/\D/g, "") ?? "";
  if (digits.length > 5 && digits.length <= longestWhole) patterns.push([...digits].join("\\D{0,2}"));
  if (patterns.length === 0) return text;
  return text.replaceAll(new RegExp(patterns.join("|"), "giu"), "…");
}

/** D… W… */
function maskName(text: string): string {
  return text.split(/\s+/u).map(initial).join(" ");
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
