/** The identifiers in a lead, the ways to name a person, and the digests with which a list may name them. */
import { domainToUnicode } from "node:url";
import type { Lead } from "../contract/lead.ts";
import { emailKey, identifierOf, type PersonIdentifier, withDomain } from "../contract/person.ts";

/** A way to name a person: by an identifier, or by the SHA-256 of an email address or phone in hexadecimal digits. */
export interface PersonReference {
  readonly kind: PersonIdentifier["kind"] | "digest";
  readonly value: string;
  /** The form in which an earlier version compared it, if that differs. */
  readonly earlier?: string;
  /** Further IDs of leads that a vendor's ID may have become: the ID is derived from that of the pixel as well. */
  readonly furtherIds?: readonly string[];
  /** The line of a list that names the person. */
  readonly line?: number;
}

/** Returns the identifiers that a reference gives; none for a digest. */
export function identifiersIn({ kind, value, earlier, furtherIds = [] }: PersonReference): PersonIdentifier[] {
  if (kind === "digest") return [];
  const given = earlier === undefined ? { kind, value } : { kind, value, earlier };
  return [given, ...furtherIds.map((id) => ({ kind, value: id }))];
}

/** Returns the ID of a lead, its email addresses, and its phone. */
export function identifiersOf(lead: Pick<Lead, "id" | "email" | "verified_email" | "phone">): PersonIdentifier[] {
  const addresses = new Set([lead.email, lead.verified_email].filter((email) => email !== null));
  const emails = [...addresses].map((email) => identifierOf("email", email));
  return [
    { kind: "id", value: lead.id },
    // Two spellings of one address are one, unless earlier versions told them apart.
    ...new Map(emails.map((one) => [`${one.value} ${one.earlier}`, one])).values(),
    ...(lead.phone === null ? [] : [identifierOf("phone", lead.phone)]),
  ];
}

/**
 * Returns the forms in which earlier versions compared an identifier, and others hash it: an email address with its domain
 * in its own letters and with separate accents, a phone with an international prefix or a leading zero.
 */
export function spellingsOf({ kind, value, earlier }: PersonIdentifier): string[] {
  const before = earlier === undefined ? [] : [earlier];
  if (kind === "id") return [value];
  if (kind === "phone") {
    const number = value.length === 10 ? `1${value}` : value;
    return [...new Set([value, `0${value}`, `0${number}`, `00${number}`, `011${number}`, ...before])];
  }
  return [...new Set([value, ...before].flatMap(spellingsOfEmail))];
}

function spellingsOfEmail(email: string): string[] {
  if (!/[^ -~]|[@.]xn--/.test(email)) return [email];
  const written = [email, withDomain(email, domainToUnicode)];
  return written.flatMap((text) => [text, text.normalize("NFD")]);
}

/** Returns the SHA-256, in hexadecimal digits, of each form of an email address or a phone. An ID has none. */
export function digestsOf(identifier: PersonIdentifier): string[] {
  const { kind, value } = identifier;
  if (kind === "id") return [];
  const ten = value.length === 10 ? [`1${value}`, `+1${value}`] : [];
  const texts = kind === "phone" ? [...spellingsOf(identifier), `+${value}`, ...ten] : spellingsOf(identifier);
  return texts.map((text) => Bun.SHA256.hash(text, "hex"));
}

/** Returns whether a lead is one of the person that a reference names. */
export function isOf(lead: Lead, reference: PersonReference): boolean {
  const identifiers = identifiersOf(lead);
  if (reference.kind === "digest") return identifiers.flatMap(digestsOf).includes(reference.value);
  const given = identifiersIn(reference);
  return identifiers.some((one) => given.some(({ kind, value }) => one.kind === kind && one.value === value));
}

/**
 * Returns the identifiers of a person's own lead that are blocked with the person: its ID, its email addresses, and the given
 * one, and its phone if it was found by its ID.
 */
export function blockedWith(reference: PersonReference, lead: Lead): PersonIdentifier[] {
  return identifiersOf(lead).filter((identifier) => {
    if (identifier.kind !== "phone" || identifier.value === reference.value) return true;
    if (reference.kind === "digest") return digestsOf(identifier).includes(reference.value);
    return reference.kind === "id";
  });
}

/**
 * Counts the people whom some leads name, by their email addresses: two in one lead are of one person. A lead without any
 * counts by its name, and one without both as somebody whom other leads name. So it is 1 at least, unless there is no lead.
 */
export function countPeople(leads: readonly Pick<Lead, "name" | "email" | "verified_email">[]): number {
  const byEmail = new Map<string, Set<string>>();
  const names = { withEmail: new Set<string>(), alone: new Set<string>() };
  for (const { name, email, verified_email: verified } of leads) {
    const [one, other] = [email ?? verified, verified ?? email];
    if (name !== null) names[one === null ? "alone" : "withEmail"].add(name.normalize("NFC").toLowerCase());
    if (one !== null && other !== null) join(byEmail, emailKey(one), emailKey(other));
  }
  const people = new Set(byEmail.values()).size + names.alone.difference(names.withEmail).size;
  return Math.max(people, Math.min(leads.length, 1));
}

/** Records that two addresses are of one person. */
function join(byEmail: Map<string, Set<string>>, one: string, other: string): void {
  const [a, b] = [byEmail.get(one) ?? new Set([one]), byEmail.get(other) ?? new Set([other])];
  if (a === b) return;
  // The smaller set moves: if each lead adds one address, the larger one would move each time.
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  for (const email of [...few, one, other]) byEmail.set(email, many.add(email));
}
