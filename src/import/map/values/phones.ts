/** Phone numbers in cells: the digits of the first number, without its label, its extension, and further numbers. */
import type { PhoneNumber } from "libphonenumber-js";
import { plainText } from "../../../contract/person.ts";
import { type Cell, type Found, textsOf } from "../../row.ts";

/** Digits alone, or the groups in which the US writes a number: nearly all cells. */
const plain = /^(?:\+?\d{7,15}|(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4})$/;
const betweenNumbers = /[,;|]/;
/** Digits enough for a number within a town. */
const someNumber = /(?:\d\D*){7}/;

/** Returns the digits of the first number in a cell; null if there is none. Further digits, as of an extension, are cut. */
export function firstPhone(cell: Cell): Found | null {
  const texts = textsOf(cell).map(plainText);
  for (const [position, text] of texts.entries()) {
    const found = plainNumber(text) ?? numberIn(text);
    if (found === null) continue;
    const further = texts.slice(position + 1).some((other) => someNumber.test(other));
    return { value: found.value, cut: found.cut || further };
  }
  return null;
}

/**
 * Returns the digits of all numbers in a cell, and those that earlier versions read: they joined a bracket to the number before
 * it, and the person may have been erased and blocked by the result.
 */
export function allPhones(cell: Cell): string[] {
  const parts = textsOf(cell).flatMap((text) => plainText(text).split(betweenNumbers));
  return parts.flatMap((part) => {
    const found = plainNumber(part) ?? numberIn(part);
    if (found === null) return [];
    const joined = found.cut ? numberInParts(part.slice(0, maxTextLength).replaceAll("(", "")) : null;
    return joined === null || joined.value === found.value ? [found.value] : [found.value, joined.value];
  });
}

/** A number as nearly all cells have it, or the first of a list that begins with one. */
function plainNumber(text: string): Found | null {
  if (plain.test(text)) return { value: digitsOf(text), cut: false };
  const [first = "", ...others] = text.split(betweenNumbers);
  const number = first.trim();
  return plain.test(number) ? { value: digitsOf(number), cut: /\d/.test(others.join("")) } : null;
}

/** A number within a town has seven digits, one with its area ten in the US, and nowhere has one more than 15. */
const localLength = 7;
const nationalLength = 10;
const maxNumberLength = 15;
/** If digits are hidden, as in `***-***-0142`, the others are no number. */
const hiddenDigits = /[*•]{2}/;
/** A number is looked for only at the beginning of a longer text. */
const maxTextLength = 500;

const betweenPhrases = /[,;|&\n]|\s(?:or|and)\s|\s\/\s|\s(?=\+)|(?<=(?:\d\D?){7})\//i;
const extension = /[([]?\s*(?:extension|extn|ext|x|#|poste|durchwahl)[\s.:#-]*(?:no\.?|number)?[\s.:#-]*\d+[\s.)\]]*$/i;
/** A zero that is dialed only within the country: `+44 (0)20`. Italy's belongs to the number: `+39 06`. */
const trunkZero = /(\+(?!39)\d{1,3}[\s.-]*)\(0\)/g;
const label = /^[\s([]*[a-z][a-z .]*\d{0,2}\s*[:=]/i;

/** Returns the first number in a text, cut if the text has more digits; null if there is none. */
function numberIn(whole: string): Found | null {
  const text = whole.slice(0, maxTextLength).replaceAll(trunkZero, "$1");
  if (hiddenDigits.test(text)) return null;
  const sheet = fromSpreadsheet(text);
  if (sheet !== null) return sheet === "" ? null : { value: sheet, cut: false };
  const [known] = findNumbers(text);
  if (known === undefined || lacksItsArea(known.number)) return numberInParts(text);
  // A number without its area may precede one that has it.
  const before = numberInParts(text.slice(0, known.startsAt));
  if (before !== null && before.value.length >= localLength) return { value: before.value, cut: true };
  const digits = digitsOf(text.slice(known.startsAt, known.endsAt));
  const value = digits.slice(0, digits.length - (known.number.ext?.length ?? 0));
  if (value === "" || isTooLong(value)) return numberInParts(text);
  return { value, cut: digitsOf(text.slice(known.startsAt)) !== value };
}

/** Finds the numbers in an unusual text. Only then the library is loaded: that takes a tenth of a short import. */
function findNumbers(text: string) {
  const { findPhoneNumbersInText }: typeof import("libphonenumber-js") = require("libphonenumber-js");
  return findPhoneNumbersInText(text, { defaultCountry: "US" });
}

/** Canada dials 310 0123 in every area: such digits are known alone, even if they are the end of a number. */
function lacksItsArea({ countryCallingCode, nationalNumber }: PhoneNumber): boolean {
  return countryCallingCode === "1" && nationalNumber.length < nationalLength;
}

/**
 * Reads a phone number that a spreadsheet formatted as a number: 5551234567.0 or 5.55E+9. Returns an empty string if
 * digits were rounded away; null for any other text.
 */
function fromSpreadsheet(text: string): string | null {
  const decimal = /^\+?(\d{7,15})\.0+$/.exec(text);
  if (decimal?.[1] !== undefined) return decimal[1];
  const power = /^\+?(\d)(?:[.,](\d+))?e\+?(\d{1,2})$/i.exec(text);
  if (power === null) return null;
  const [, whole = "", decimals = "", exponent] = power;
  return decimals.length === Number(exponent) && decimals.length < maxNumberLength ? whole + decimals : "";
}

/** Returns the first number in a text that no numbering plan knows. */
function numberInParts(text: string): Found | null {
  for (const part of text.split(betweenPhrases)) {
    const number = part
      .replace(label, "")
      .replace(/\.0\s*$/, "")
      .replace(extension, "");
    const value = fromSpreadsheet(part.trim()) ?? firstRun(number);
    // Letters that are digits on a keypad are not spelled out.
    if (value === "" || (value.length < localLength && /[a-z]{3}/i.test(number))) continue;
    if (!isTooLong(value)) return { value, cut: digitsOf(text.replace(label, "")) !== value };
  }
  return null;
}

/** Returns the first of numbers that only spaces separate: it ends where it is complete and another one begins. */
function firstRun(text: string): string {
  const tooMany = isTooLong(digitsOf(text));
  let digits = "";
  for (const word of text.split(/\s+/)) {
    const group = digitsOf(word);
    // A bracket begins with the area of a number, or says something else.
    // After an international prefix, the country and the area alone may have as many digits: `0049 171 2345678`.
    if (withoutPrefix(digits).length >= localLength && (group.length >= localLength || word.startsWith("("))) break;
    if (tooMany && digits.length >= nationalLength) break;
    digits += group;
  }
  return digits;
}

/** Returns whether digits are more than those of one number, which an international prefix may precede. */
function isTooLong(digits: string): boolean {
  return withoutPrefix(digits).length > maxNumberLength;
}

function withoutPrefix(digits: string): string {
  return digits.replace(/^(?:0{1,2}11|00)/, "");
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, "");
}
