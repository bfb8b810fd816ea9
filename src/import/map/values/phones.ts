/** Phone numbers out of cells: the digits of the first number, whatever labels, extensions and further numbers stand beside it. */
import type { Found } from "../../row.ts";
import { numberIn } from "./phone-in-text.ts";

/** Digits alone, or the groups in which the US writes a number: nearly all cells. */
const plain = /^(?:\+?\d{7,15}|(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4})$/;
const betweenNumbers = /[,;|]/;
/** Digits enough for a number within a town. */
const someNumber = /(?:\d\D*){7}/;

/** The digits of the first number; null where there is none. Further digits, of an extension or another number, are cut. */
export function firstPhone(texts: readonly string[]): Found | null {
  for (const [position, text] of texts.entries()) {
    const found = plainNumber(text) ?? numberIn(text);
    if (found === null) continue;
    const further = texts.slice(position + 1).some((other) => someNumber.test(other));
    return { value: found.value, cut: found.cut || further };
  }
  return null;
}

/** The digits of the numbers of lists. */
export function allPhones(texts: readonly string[]): string[] {
  const found = texts.flatMap((text) => text.split(betweenNumbers)).map((part) => plainNumber(part) ?? numberIn(part));
  return found.flatMap((number) => number?.value ?? []);
}

/** A number as nearly all cells have it, or the first of a list that begins with one. */
function plainNumber(text: string): Found | null {
  if (plain.test(text)) return { value: withoutSigns(text), cut: false };
  const [first = "", ...others] = text.split(betweenNumbers);
  const number = first.trim();
  return plain.test(number) ? { value: withoutSigns(number), cut: /\d/.test(others.join("")) } : null;
}

/** A plain number without what stands between its digits. */
function withoutSigns(number: string): string {
  return number.replaceAll(/[+().\s-]/g, "");
}
