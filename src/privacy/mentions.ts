/**
 * Finds email addresses, phones, and IDs in texts by their meaning, such as in the address of a page. All identifiers of a
 * text are extracted and compared, so a list of many persons takes no longer than one.
 */
import { asciiDigits, decodePercent, emailKey, phoneKey, withoutInvisible } from "../contract/person.ts";
import { digestsOf, type PersonReference } from "./identifiers.ts";

/** Returns the owners of the identifiers that a text contains. */
export type Matcher<Owner> = (text: string) => Set<Owner>;

type Kind = PersonReference["kind"];

/** An identifier to look for, or the digest of one, and its owner. */
export type Wanted<Owner> = Pick<PersonReference, "kind" | "value"> & { readonly owner: Owner };

/**
 * Prepares the search for identifiers. An email address matches in any case, and with or without a +tag; a phone matches
 * whatever separates its digits; a digest matches either. Hashes, Base64, and encryption hide them.
 */
export function createMatcher<Owner>(wanted: Iterable<Wanted<Owner>>): Matcher<Owner> {
  const owners = new Map<Kind, Map<string, Set<Owner>>>();
  for (const { kind, value, owner } of wanted) {
    const ofKind = owners.getOrInsertComputed(kind, () => new Map());
    ofKind.getOrInsertComputed(kind === "email" ? withoutTag(value) : value, () => new Set()).add(owner);
  }
  return (text) => {
    const found = new Set<Owner>();
    for (const form of formsOf(text)) {
      for (const [kind, ofKind] of owners) {
        for (const value of extract[kind](form)) for (const owner of ofKind.get(value) ?? []) found.add(owner);
      }
    }
    return found;
  };
}

const uuidLength = 36;
const uuid = /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/g;

/** Returns the identifiers of a kind that a text may contain. */
const extract: Readonly<Record<Kind, (text: string) => Iterable<string>>> = {
  email: (text) => emailsIn(text).map(withoutTag),
  phone: phonesIn,
  id: (text) => (text.length < uuidLength ? [] : (text.toLowerCase().match(uuid) ?? [])),
  digest: digestsIn,
};

/** Yields the digests of the addresses, with and without their tags, and of the phones that a text may contain. */
function* digestsIn(text: string): Generator<string> {
  for (const email of emailsIn(text))
    for (const value of new Set([email, withoutTag(email)])) yield* digestsOf({ kind: "email", value });
  for (const value of phonesIn(text)) if (value.length >= minHashedDigits) yield* digestsOf({ kind: "phone", value });
}

/** No sender encodes an address more often. */
const maxDecodings = 5;

/** Yields a text, and its forms when escape sequences are decoded, again and again. */
function* formsOf(text: string): Generator<string> {
  let form = text;
  for (let decodings = 0; ; decodings++) {
    yield form;
    const decoded = decodings < maxDecodings ? decodeOnce(form) : form;
    if (decoded === form) return;
    form = decoded;
  }
}

/**
 * Decodes each valid sequence of percent-encoding, and character references. A stray `%` is kept. Full-width letters become ordinary
 * ones, and invisible characters are removed.
 */
function decodeOnce(text: string): string {
  if (!/%[0-9a-f]{2}|&(?:#|commat|apos)|[\\%]u|[^ -~]/i.test(text)) return text;
  const decoded = decodePercent(text)
    .replaceAll(/(?:&#(?:(\d{1,7})|x([0-9a-f]{1,6}));?|[\\%]u([0-9a-f]{4}))/gi, (sequence, decimal, hex, json) => {
      const point = decimal === undefined ? Number.parseInt(hex ?? json, 16) : Number(decimal);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : sequence;
    })
    .replaceAll(/&commat;/gi, "@")
    .replaceAll(/&apos;/gi, "'");
  return withoutInvisible(decoded.normalize("NFKC"));
}

const maxLocalPart = 64;

/** Yields each address that a text may contain, in the form in which addresses are compared. */
function* emailsIn(text: string): Generator<string> {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const domain = /^[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}])?/u.exec(
      text.slice(at + 1, at + 256),
    )?.[0];
    const before = /[^\s"<>]+$/.exec(text.slice(Math.max(0, at - maxLocalPart), at))?.[0];
    if (domain === undefined || before === undefined) continue;
    // Unknown text may precede the address: `to=`, `mailto:`, a quotation mark, or a word and a + for a space.
    for (let begin = 0; begin < before.length; begin++) {
      const isBeginning = begin === 0 || !isWordCharacter(before.charCodeAt(begin - 1));
      if (isBeginning) yield emailKey(`${before.slice(begin)}@${domain}`);
    }
  }
}

/** Returns whether an address continues at a character: bandana@example.com does not contain dana@example.com. */
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
const digitGroups = /\d+(?:[^a-z\d&=?#;"]{1,3}\d+)*/gi;
const minPhoneDigits = 4;
/** A hash takes time, and nobody hashes a shorter phone. */
const minHashedDigits = 7;
/** The maximum length of a phone with its prefix. */
const maxPhoneDigits = 18;

/** Returns each phone that a text may contain, in the form in which phones are compared. */
function phonesIn(text: string): string[] {
  const runs = asciiDigits(text).match(digitGroups) ?? [];
  return runs.flatMap((run) => {
    const groups = run.length < minPhoneDigits ? [] : (run.match(/\d+/g) ?? []);
    return groups.flatMap((_, first) => beginnings(groups.slice(first)));
  });
}

/** Returns the first group of digits, the first two, and so on, as phones. */
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
