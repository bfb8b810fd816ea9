/**
 * Finds email addresses, phones, and IDs in texts by their meaning, such as in the address of a page. All identifiers of a
 * text are extracted and compared, so a list of many persons takes no longer than one.
 */
import { emailKey, phoneKey } from "../contract/person.ts";

/** Tells which of the known identifiers a text holds. */
export type Matcher<Owner> = (text: string) => Set<Owner>;

/** An identifier to look for, and what it belongs to. */
export interface Wanted<Owner> {
  readonly kind: "email" | "phone" | "id";
  readonly value: string;
  readonly owner: Owner;
}

/**
 * Prepares the search for identifiers. An email address matches in any case, and with or without a +tag; a phone matches
 * whatever separates its digits. Hashes, Base64, and encryption cannot be seen through.
 */
export function createMatcher<Owner>(wanted: Iterable<Wanted<Owner>>): Matcher<Owner> {
  const owners = {
    email: new Map<string, Owner[]>(),
    phone: new Map<string, Owner[]>(),
    id: new Map<string, Owner[]>(),
  };
  for (const { kind, value, owner } of wanted) {
    owners[kind].getOrInsertComputed(kind === "email" ? withoutTag(value) : value, () => []).push(owner);
  }
  return (text) => {
    const found = new Set<Owner>();
    for (const { kind, value } of identifiersIn(text, (kind) => owners[kind].size > 0)) {
      for (const owner of owners[kind].get(value) ?? []) found.add(owner);
    }
    return found;
  };
}

type Mention = Pick<Wanted<unknown>, "kind" | "value">;

/** The identifiers of the wanted kinds that may stand in a text. */
function identifiersIn(text: string, isWanted: (kind: Mention["kind"]) => boolean): Mention[] {
  return [...formsOf(text)].flatMap((form) => {
    const emails = isWanted("email") && form.includes("@") ? [...emailsIn(form)] : [];
    const phones = isWanted("phone") ? phonesIn(form) : [];
    const ids = isWanted("id") ? form.toLowerCase().match(uuid) : null;
    return [
      ...emails.map((value): Mention => ({ kind: "email", value })),
      ...phones.map((value): Mention => ({ kind: "phone", value })),
      ...(ids ?? []).map((value): Mention => ({ kind: "id", value })),
    ];
  });
}

const uuid = /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/gi;
/** No sender encodes an address more often. */
const maxDecodings = 5;

/** A text, and what remains when its escape sequences are decoded, again and again. */
function* formsOf(text: string): Generator<string> {
  let form = text;
  for (let decodings = 0; ; decodings++) {
    yield form;
    const decoded = decodings < maxDecodings ? decodeOnce(form) : form;
    if (decoded === form) return;
    form = decoded;
  }
}

/** Decodes each valid sequence of percent-encoding, and character references. A stray `%` stays. */
function decodeOnce(text: string): string {
  if (!/[%&\\]/.test(text)) return text;
  return text
    .replaceAll(/(?:%[0-9a-f]{2})+/gi, decodeSequence)
    .replaceAll(/(?:&#(?:(\d{1,7})|x([0-9a-f]{1,6}));?|\\u([0-9a-f]{4}))/gi, (sequence, decimal, hex, json) => {
      const point = decimal === undefined ? Number.parseInt(hex ?? json, 16) : Number(decimal);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : sequence;
    })
    .replaceAll(/&commat;/gi, "@");
}

function decodeSequence(sequence: string): string {
  return Buffer.from(sequence.replaceAll("%", ""), "hex").toString("utf8");
}

const maxLocalPart = 64;

/** Each address that may stand in a text, without its tag and in the form in which addresses are compared. */
function* emailsIn(text: string): Generator<string> {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const domain = /^[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}])?/u.exec(
      text.slice(at + 1, at + 256),
    )?.[0];
    const before = /[^\s"<>]+$/.exec(text.slice(Math.max(0, at - maxLocalPart), at))?.[0];
    if (domain === undefined || before === undefined) continue;
    // What stands before the address is unknown: `to=`, `mailto:`, a quotation mark, or a word and a + for a space.
    for (let begin = 0; begin < before.length; begin++) {
      const isBeginning = begin === 0 || !isWordCharacter(before.charCodeAt(begin - 1));
      if (isBeginning) yield withoutTag(emailKey(`${before.slice(begin)}@${domain}`));
    }
  }
}

/** Whether an address goes on at a character: bandana@example.com does not hold dana@example.com. */
function isWordCharacter(code: number): boolean {
  const isDigit = code >= 0x30 && code <= 0x39;
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  const joinsWords = code === 0x2e || code === 0x2d || code === 0x5f;
  return isDigit || isLetter || joinsWords || (code > 0x7f && /[\p{L}\p{M}\p{N}]/u.test(String.fromCharCode(code)));
}

function withoutTag(address: string): string {
  const at = address.lastIndexOf("@");
  const plus = address.indexOf("+");
  return plus > 0 && plus < at ? address.slice(0, plus) + address.slice(at) : address;
}

/** Groups of digits, with few characters between them that do not begin another value. */
const digitGroups = /\p{Nd}+(?:[^\p{L}\p{N}&=?#;"]{1,3}\p{Nd}+)*/gu;
const minPhoneDigits = 4;
/** The longest phone with the longest prefix. */
const maxPhoneDigits = 18;

/** Each phone that may stand in a text, in the form in which phones are compared. */
function phonesIn(text: string): string[] {
  if (!/\p{Nd}/u.test(text)) return [];
  return [...text.matchAll(digitGroups)].flatMap(([run]) => {
    const groups = run.length < minPhoneDigits ? [] : (asciiDigits(run).match(/\d+/g) ?? []);
    return groups.flatMap((_, first) => beginnings(groups.slice(first)));
  });
}

/** The first group of digits, the first two, and so on, as phones. */
function beginnings(groups: readonly string[]): string[] {
  const phones: string[] = [];
  let digits = "";
  for (const group of groups) {
    digits += group;
    if (digits.length > maxPhoneDigits) break;
    if (digits.length >= minPhoneDigits) phones.push(phoneKey(digits));
  }
  return phones;
}

/** The same text with digits of other scripts as ASCII: within a script, zero to nine follow one another. */
function asciiDigits(text: string): string {
  if (!/[^ -~]/.test(text)) return text;
  return text.replaceAll(/[^\P{Nd}0-9]/gu, (digit) => {
    let zero = digit.codePointAt(0) ?? 0;
    const isDigit = (point: number) => /\p{Nd}/u.test(String.fromCodePoint(point));
    const point = zero;
    while (isDigit(zero - 1) && point - zero < 9) zero--;
    return String(point - zero);
  });
}
