/** The identifiers in a lead, and the digests with which a list may name them. */
import { domainToUnicode } from "node:url";
import type { Lead } from "../contract/lead.ts";
import { emailKey, type PersonIdentifier, phoneKey, withDomain } from "../contract/person.ts";

/** The id of a lead, its e-mail addresses and its phone. */
export function identifiersOf(lead: Pick<Lead, "id" | "email" | "verified_email" | "phone">): PersonIdentifier[] {
  const emails = new Set(
    [lead.email, lead.verified_email].flatMap((email) => (email === null ? [] : [emailKey(email)])),
  );
  return [
    { kind: "id", value: lead.id },
    ...[...emails].map((value): PersonIdentifier => ({ kind: "email", value })),
    ...(lead.phone === null ? [] : [{ kind: "phone", value: phoneKey(lead.phone) } as const]),
  ];
}

/** How an identifier may be written elsewhere: with its domain in its own letters, and with accents apart. */
export function spellingsOf({ kind, value }: PersonIdentifier): string[] {
  if (kind !== "email" || !/[^ -~]|[@.]xn--/.test(value)) return [value];
  const written = [value, withDomain(value, domainToUnicode)];
  return [...new Set(written.flatMap((text) => [text, text.normalize("NFD")]))];
}

/** SHA-256, in hexadecimal digits, of an e-mail address or of each form of a phone; an id has none. */
export function digestsOf(identifier: PersonIdentifier): string[] {
  const { kind, value } = identifier;
  if (kind === "id") return [];
  return (kind === "phone" ? phonesOf(value) : spellingsOf(identifier)).map((text) => Bun.SHA256.hash(text, "hex"));
}

/** A phone as others hash it: ten digits may have the 1 of the US, and any a plus sign. */
function phonesOf(digits: string): string[] {
  const numbers = digits.length === 10 ? [digits, `1${digits}`] : [digits];
  return numbers.flatMap((number) => [number, `+${number}`]);
}
