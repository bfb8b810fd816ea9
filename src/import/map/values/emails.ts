/** Email addresses in cells, without the names, brackets, and labels around them. */
import { type Cell, type Found, textsOf } from "../../row.ts";

/** Invisible marks that a web page or a program left in an address; as the inside of a class. */
const unseen = String.raw`\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe0f`;
const unseenMarks = new RegExp(`[${unseen}]`, "g");

/** Quotes, bullets, and signs outside ASCII that may surround an address, but are never part of one. */
const marks = String.raw`\u00ab\u00b7\u00bb\u2018-\u201f\u2022\u2026\u2039\u203a\u25a0-\u27bf`;

/** The name before an address in a link or a query. */
const label = "[Ee]-?[Mm]ail=";

/** An address as nearly all cells have it. Each stored address has this form, so an export of it is read as the same one. */
const inner = String.raw`\s@<>()[\]{}",;:|\\${unseen}${marks}`;
const bareEmail = new RegExp(
  `^(?!${label})[^${inner}'\`.*][^${inner}]*@[^${inner}'\`/?&=.!*](?:[^${inner}/?&=!*]*[^${inner}'\`/?&=.!*])?$`,
);
/** The separator of the addresses of a list. */
const betweenAddresses = /[,;|]\s*|\s+/;

/** Returns the first valid address in a cell; null if there is none. Names, brackets, and labels are cut off. */
export function firstEmail(cell: Cell): Found | null {
  for (const text of textsOf(cell)) {
    if (isBare(text)) return { value: text, cut: false };
    const list = text.split(betweenAddresses).filter((part) => part !== "");
    if (list[0] !== undefined && list.every(isBare)) return { value: list[0], cut: false };
    const value = candidatesIn(text).find(isBare);
    if (value !== undefined) return { value, cut: true };
  }
  return null;
}

/** Returns all valid addresses in a cell, also those whose @ or dot is a full-width one. */
export function allEmails(cell: Cell): string[] {
  const texts = textsOf(cell).flatMap((text) => [...new Set([text, text.normalize("NFKC")])]);
  return texts.flatMap((text) => (isBare(text) ? [text] : candidatesIn(text).filter(isBare)));
}

function isBare(text: string): boolean {
  return bareEmail.test(text);
}

/** As in O’Brien, which a word processor writes for a straight one. */
const roundApostrophe = /(?<=\p{L})[‘’](?=\p{L})/gu;
/** The separator of the words of a cell, of which an address is one. */
const betweenWords = new RegExp(String.raw`[\s<>()[\]{}",;:|\\${marks}]+`);
/** A comment, or a quoted name before an address in brackets (RFC 5322). An address inside is not the visitor's. */
const commentOrName = /\([^()]*\)|"[^"<]*"(?=\s*<)/g;
/** An address in angle brackets, after a name that may look like one. It begins where the one before it ends. */
const inBrackets = /(?<![^,;|/\n<>])[^,;|/\n<>]*<([^<>]*)>/g;
/** A whole cell that is an address with blanks around its @. In a sentence, they say something else. */
const blanksAroundAt = new RegExp(`^ *[^${inner}]+ *@ *[^${inner}]+ *$`);

/** Returns the parts of a cell that may be addresses, the likely ones first. */
function candidatesIn(cell: string): readonly string[] {
  const text = cell.replaceAll(unseenMarks, "").replaceAll(roundApostrophe, "'");
  const list = text.replaceAll(commentOrName, " ").replaceAll(inBrackets, " $1 ");
  const likely = wordsOf(blanksAroundAt.test(list) ? list.replaceAll(" ", "") : list);
  return [...new Set([...likely, ...wordsOf(text)])];
}

function wordsOf(text: string): string[] {
  return text
    .split(betweenWords)
    .flatMap((word) => (word.indexOf("@") === word.lastIndexOf("@") ? [word] : word.split("/")))
    .map(withoutEdges);
}

const startOfWord = new RegExp(`^['\`./=*]+|^${label}`);

/** Removes the quotes, stops, and signs that a sentence or a link adds to a word, which may be as long as a row. */
function withoutEdges(word: string): string {
  return word
    .replace(startOfWord, "")
    .replace(/(@[^?&=!/*]*).*$/, "$1")
    .replace(/(?<!['`.])['`.]+$/, "");
}
