/** E-mail addresses out of cells: bare, without the names, brackets and labels that stand around them. */
import { parseAddressList } from "email-addresses";
import type { FirstOf } from "./values.ts";

/** An address as nearly all cells have it. Whatever is stored has this form, and so comes back as it went out. */
const plain =
  /^[^\s@<>()[\]{}",;:|\\'`.][^\s@<>()[\]{}",;:|\\]*@[^\s@<>()[\]{}",;:|\\'`/?&=.!][^\s@<>()[\]{}",;:|\\/?&=!]*$/;
/** What stands between the addresses of a list. */
const betweenAddresses = /[,;|]\s*|\s+/;
/** What stands between the words of a cell, an address being one of them. */
const betweenWords = /[\s<>()[\]{}",;:|\\]+/;
/** A longer cell is a letter and no list of addresses, and a parser of grammar would take its time over it. */
const longestList = 2000;

/** The first valid address. Further addresses of a list are left out; names, brackets and labels are cut. */
export function firstEmail(texts: readonly string[]): FirstOf {
  for (const text of texts) {
    if (isBare(text)) return { value: text, cut: false };
    const list = text.split(betweenAddresses).filter((part) => part !== "");
    if (list[0] !== undefined && list.every(isBare)) return { value: list[0], cut: false };
    const value = addressIn(text);
    if (value !== null) return { value, cut: true };
  }
  return { value: null, cut: false };
}

function isBare(text: string): boolean {
  return plain.test(text) && !".'`".includes(text.at(-1) ?? "");
}

function addressIn(text: string): string | null {
  // Names in quotes, comments and groups are a grammar of their own (RFC 5322).
  return (
    (/[<("]|\s@|@\s/.test(text) && text.length <= longestList ? addressOfList(text) : null) ?? addressAmongWords(text)
  );
}

function addressOfList(text: string): string | null {
  const options = { input: text, rfc6532: true, commaInDisplayName: true, atInDisplayName: true };
  const boxes = (parseAddressList(options) ?? []).flatMap((entry) =>
    entry.type === "group" ? entry.addresses : [entry],
  );
  return boxes.map(({ address }) => address).find(isBare) ?? null;
}

function addressAmongWords(text: string): string | null {
  const words = text
    .split(betweenWords)
    .flatMap((word) => (word.indexOf("@") === word.lastIndexOf("@") ? [word] : word.split("/")));
  return words.map(withoutEdges).find(isBare) ?? null;
}

/** A word without the quotes, stops and signs that a sentence or a link puts around it. */
function withoutEdges(word: string): string {
  return word
    .replace(/^['`./=]+/, "")
    .replace(/(?<=@.*)[?&=!/].*$/, "")
    .replace(/['`.]+$/, "");
}
