/** What is looked for in bytes: each value in every form that it may have in a file. */
import type { Lead } from "../../contract/lead.ts";
import type { PersonIdentifier } from "../../contract/person.ts";
import { bytesOf } from "../../db/uuid.ts";
import { identifiersOf, spellingsOf } from "../identifiers.ts";
import { type Form, leastLength } from "./byte-search.ts";

/** A value as text, within JSON, and percent-encoded once or twice. A search ignores the case of ASCII letters. */
export function formsOf(identifier: PersonIdentifier): string[] {
  const { kind, value } = identifier;
  if (kind === "id") return [value];
  return kind === "phone" ? phoneForms(value) : spellingsOf(identifier).flatMap(emailForms);
}

function emailForms(value: string): string[] {
  const inAddress = [value.replaceAll("@", "%40"), encodeURIComponent(value.toWellFormed())];
  const texts = [value, ...inAddress, ...inAddress.map((text) => text.replaceAll("%", "%25"))];
  return [...withJson(texts), ...fieldsOfShort(["email", "verified_email"], value)];
}

/** A value that is looked for. An `exact` one counts wherever it stands; any other may be a part of a longer value. */
export interface Wanted {
  readonly kind: PersonIdentifier["kind"] | "exact";
  readonly forms: readonly Form[];
}

/** What names a person in a lead. */
export type Named = Pick<Lead, "id" | "name" | "email" | "verified_email" | "phone">;

/** Everything by which the person of a lead, or the lead itself, can be found. */
export function wantedOf(lead: Named): Wanted[] {
  const name = lead.name === null ? Buffer.alloc(0) : Buffer.from(JSON.stringify(lead.name));
  const exact = [name, bytesOf(lead.id)].filter(({ length }) => length >= leastLength);
  const identifiers = identifiersOf(lead).map(
    (identifier): Wanted => ({ kind: identifier.kind, forms: formsOf(identifier) }),
  );
  return [...identifiers, ...exact.map((form): Wanted => ({ kind: "exact", forms: [form] }))];
}

function phoneForms(digits: string): string[] {
  const [, area, exchange, line] = /^(\d{3})(\d{3})(\d{4})$/.exec(digits) ?? [];
  if (area === undefined) return [...withJson([digits]), ...fieldsOfShort(["phone"], digits)];
  const apart = ["", "-", ".", " ", "%20", "+"].map((gap) => [area, exchange, line].join(gap));
  return [...apart, `(${area}) ${exchange}-${line}`, `%28${area}%29%20${exchange}-${line}`];
}

/** A value that is too short to be looked for is looked for with the name of its field. */
function fieldsOfShort(names: readonly string[], value: string): string[] {
  if (Buffer.byteLength(value) >= leastLength) return [];
  return names.map((name) => `"${name}":${JSON.stringify(value)}`);
}

/** Each text once, also as it stands in JSON, and beyond ASCII in upper case as well. */
function withJson(texts: readonly string[]): string[] {
  const all = texts.flatMap((text) => {
    const escaped = JSON.stringify(text).slice(1, -1);
    return Buffer.byteLength(text) === text.length
      ? [text, escaped]
      : [text, escaped, text.toUpperCase(), escaped.toUpperCase()];
  });
  return [...new Set(all)].filter((text) => Buffer.byteLength(text) >= leastLength);
}

/**
 * Whether what stands at a place is the value itself, and not a part of a longer one: dana@example.com is neither in
 * bandana@example.com nor in dana@example.com.au, and a phone not in a longer number, but for the 1 of the US.
 */
export function standsAlone(kind: PersonIdentifier["kind"], text: Uint8Array, start: number, end: number): boolean {
  if (kind === "phone") {
    const before = byteBefore(text, start);
    const isNumberOne = before === one && !isDigit(byteBefore(text, start - 1));
    return (!isDigit(before) || isNumberOne) && !isDigit(text[end]);
  }
  return !isOfAddress(byteBefore(text, start)) && !goesOn(text, end);
}

const one = 0x31;
const backslash = 0x5c;
const space = 0x20;
const dot = 0x2e;

/** The same bytes with the methods of a Buffer, and not a copy of them. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The byte before a place. An escaped one, in an address or in JSON, counts as what it stands for. */
function byteBefore(text: Uint8Array, start: number): number | undefined {
  const before = viewOf(text).toString("latin1", Math.max(0, start - 6), start);
  const escaped = /(?:%|%25|\\u00)([0-9a-f]{2})$/i.exec(before)?.[1];
  if (escaped !== undefined) return Number.parseInt(escaped, 16);
  if (text[start - 2] === shortMark || beginsLongMark(text, start - 3)) return space;
  return text[start - 2] === backslash ? space : text[start - 1];
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function isLetterOrDigit(byte: number | undefined): boolean {
  return byte !== undefined && (isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) || byte > 0x7f);
}

/** The first byte of a sign from U+0080 to U+00BF, such as «. */
const shortMark = 0xc2;

/** Whether one of the signs from U+2000 to U+27BF begins at a place, such as a round quote or a bullet. */
function beginsLongMark(text: Uint8Array, start: number): boolean {
  return text[start] === 0xe2 && (text[start + 1] ?? 0xff) < 0xa0;
}

/** Whether a byte can be inside an address or an id. A byte such as & separates two values of a query. */
function isOfAddress(byte: number | undefined): boolean {
  return isLetterOrDigit(byte) || (byte !== undefined && "._+-".includes(String.fromCharCode(byte)));
}

/** Whether a domain, or an id, goes on at a place. */
function goesOn(text: Uint8Array, end: number): boolean {
  const next = text[end];
  if (next === shortMark || beginsLongMark(text, end)) return false;
  if (isLetterOrDigit(next) || next === 0x2d || next === 0x5f) return true;
  return next === dot && isLetterOrDigit(text[end + 1]);
}
