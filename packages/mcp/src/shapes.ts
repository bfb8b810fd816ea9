/** The shapes of texts that tell nothing about a person: words, short numbers, ranges, and IDs. Everything else is masked. */

/** The fewest digits of a phone. A text with as many, apart from dates, shows no number. */
const minPhoneDigits = 7;
const maxWordLength = 30;

const aUuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** A word in lowercase, Capitalized, in capitals, or of two such as YouTube. Base64 changes its case more often. */
const aWord = String.raw`(?:\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+(?:\p{Lu}[\p{Ll}\p{M}]*)?|\p{Lu}[\p{Lu}\p{M}]*)`;
/** A word, a number of up to four digits, or one next to the other, such as q3 or 7th. Hexadecimal mixes them more often. */
const aPiece = new RegExp(`^(?:${aWord}|${aWord}\\p{N}{1,4}|\\p{N}{1,4}${aWord}?)$`, "u");
const aDate = /(?<!\d)(?:19|20)\d\d([-/.])(?:0?[1-9]|1[0-2])(?:\1(?:0?[1-9]|[12]\d|3[01]))?(?!\d)/g;

/** Shows a text without the parts between white space and slashes that have no known shape. */
export function withKnownShapes(text: string): string {
  const digits = text.replaceAll(aDate, "").match(/\p{N}/gu)?.length ?? 0;
  const isKnown = (part: string) => isPlain(part) && !(digits >= minPhoneDigits && /\p{N}/u.test(part));
  return text.replace(/[^\s/]+/gu, (part) => (isKnown(part) ? part : "…"));
}

function isPlain(part: string): boolean {
  const pieces = part.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return pieces.every((piece) => piece.length <= maxWordLength && aPiece.test(piece)) && !hidesAddress(part);
}

/** Returns whether a text is an email address in base64, base64url, or hexadecimal. */
function hidesAddress(text: string): boolean {
  const encodings = ["base64", "hex"] as const;
  return encodings.some((encoding) =>
    /^[\x20-\x7e]*@[\x20-\x7e]*$/.test(Buffer.from(text, encoding).toString("latin1")),
  );
}

export function isUuid(text: string): boolean {
  return aUuid.test(text);
}

/** Returns whether a text can be the ID of a pixel: no words, no groups of digits like those of a phone, and no email address. */
export function isPixelId(text: string): boolean {
  const groups = text.match(/\d{3,}/g)?.join("") ?? "";
  const isSpaced = /(?:\d[^a-z\d]*){7}/i.test(text);
  const withoutPrefix = text.replace(/^[a-z]+[_-]/i, "");
  return /^[\w.:-]{1,64}$/.test(text) && !isSpaced && groups.length < minPhoneDigits && !hidesAddress(withoutPrefix);
}

/** Returns whether a text is a range of ages, such as 25-34, 65+, or "under 18". */
export function isAgeRange(text: string): boolean {
  const [low, high] = boundsOf(text.trim(), /^\d{1,3}$/) ?? [];
  return low !== undefined && Math.max(low, high ?? low) <= 120 && (high === undefined || low < high);
}

/** Returns whether a text is a range of amounts, such as "$75,000 to $99,999", 100000-149999, $50k+, or "less than $20,000". */
export function isAmountRange(text: string): boolean {
  const bounds = boundsOf(
    text.trim(),
    /^-?\$?-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d{1,2})?\s?(?:k|m|b|thousand|million|billion)?$/i,
  );
  return bounds?.every(isBound) === true && (bounds.length === 1 || Number(bounds[0]) < Number(bounds[1]));
}

/** Reads one bound, or two of a range; null for any other text. */
function boundsOf(text: string, aNumber: RegExp): number[] | null {
  const plain = text
    .replace(/^(?:under|over|above|below|up to|(?:less|more|greater) than|[<>≤≥]=?)\s*/i, "")
    .replace(/\s*(?:\+|plus|(?:and|or) (?:over|older|more|above|up|under|younger|less|below))$/i, "");
  const numbers = plain.split(/\s*(?:(?<=[\dkmb])\s*[-–—]|\bto\b|\band\b)\s*/i);
  return numbers.length <= 2 && numbers.every((number) => aNumber.test(number)) ? numbers.map(amountOf) : null;
}

const factors: Readonly<Record<string, number>> = { k: 1e3, t: 1e3, m: 1e6, b: 1e9 };

function amountOf(text: string): number {
  const [, factor = ""] = /([ktmb])\w*$/i.exec(text) ?? [];
  return Number(text.replaceAll(/[^\d.-]/g, "")) * (factors[factor.toLowerCase()] ?? 1);
}

/** The bounds of ranges are round, or one away from that. The digits of a phone are not. */
function isBound(amount: number): boolean {
  const off = Math.abs(Math.round(amount)) % 500;
  return off <= 1 || off === 499;
}
