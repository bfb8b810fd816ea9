/** E-mail addresses out of cells: bare, without the names, brackets and labels that stand around them. */
import type { Found } from "../row.ts";
import { candidatesIn, unseen } from "./email-in-text.ts";

/** An address as nearly all cells have it. Whatever is stored has this form, and so comes back as it went out. */
const inner = String.raw`\s@<>()[\]{}",;:|\\${unseen}`;
const plain = new RegExp(`^[^${inner}'\`.][^${inner}]*@[^${inner}'\`/?&=.!][^${inner}/?&=!]*$`);
/** What stands between the addresses of a list. */
const betweenAddresses = /[,;|]\s*|\s+/;

/** The first valid address; null where there is none. Further addresses of a list are left out; names, brackets and labels are cut. */
export function firstEmail(texts: readonly string[]): Found | null {
  for (const text of texts) {
    if (isBare(text)) return { value: text, cut: false };
    const list = text.split(betweenAddresses).filter((part) => part !== "");
    if (list[0] !== undefined && list.every(isBare)) return { value: list[0], cut: false };
    const value = candidatesIn(text).find(isBare);
    if (value !== undefined) return { value, cut: true };
  }
  return null;
}

/** All valid addresses. */
export function allEmails(texts: readonly string[]): string[] {
  return texts.flatMap((text) => (isBare(text) ? [text] : candidatesIn(text).filter(isBare)));
}

function isBare(text: string): boolean {
  return plain.test(text) && !".'`".includes(text.at(-1) ?? "");
}
