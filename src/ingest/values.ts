/** Values of a lead out of the cells of a file (decisions on what a lead is): trimmed, and otherwise kept as they came. */
import { data as states } from "usps-states";

/** What a file has in one place: a text, or the texts of a list. */
export type Cell = string | readonly string[] | undefined;

/** Texts with which files say that there is nothing. Null and Nan are names as well, and stay. */
const nothing = /^(?:|-|--|N\/A|n\/a|null|NULL|NaN|nan|undefined|\\N)$/;

/** The texts of a cell that are not empty, trimmed; a cell that holds a JSON array is a list. */
export function textsOf(cell: Cell): readonly string[] {
  if (cell === undefined || cell === "") return [];
  const texts = typeof cell === "string" ? [cell] : cell;
  return texts.flatMap(unwrap).filter((text) => !nothing.test(text));
}

/** The first text of a cell that is not empty. */
export function firstText(cell: Cell): string | null {
  // Most cells are one plain text, and there are many of them.
  if (typeof cell === "string" && !cell.includes("[")) {
    const text = trimmed(cell);
    return nothing.test(text) ? null : text;
  }
  return textsOf(cell)[0] ?? null;
}

/** Half of a surrogate pair is no text that could be stored. */
function trimmed(text: string): string {
  return text.toWellFormed().trim();
}

function unwrap(cell: string): readonly string[] {
  const text = trimmed(cell);
  if (!text.startsWith("[") || !text.endsWith("]")) return [text];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.flatMap((item) => textsOf(itemText(item))) : [text];
  } catch {
    return [text];
  }
}

/** Of an object in a list the value that the list is about. */
function itemText(item: unknown): string | undefined {
  if (typeof item === "string" || typeof item === "number" || typeof item === "boolean") return String(item);
  if (typeof item !== "object" || item === null) return undefined;
  const entries = Object.entries(item);
  const main = entries.find(([name]) => /^(?:url|page|page_?url|value|email|number|address|href)$/i.test(name));
  return typeof main?.[1] === "string" || typeof main?.[1] === "number" ? String(main[1]) : undefined;
}

/** Several e-mail addresses in one text: the first valid one; null when there is none. */
export function firstEmail(texts: readonly string[]): string | null {
  for (const part of texts.flatMap((text) => text.split(/[,;|]/))) {
    // With two of them only spaces can be between.
    const candidates = part.split("@").length > 2 ? part.split(/\s+/) : [part];
    const email = candidates.map(bareEmail).find((candidate) => /^[^@]*[^@\s][^@]*@[^@]*[^@\s][^@]*$/.test(candidate));
    if (email !== undefined) return email;
  }
  return null;
}

/** An address without what lists and mail programs put around it. */
function bareEmail(text: string): string {
  const inside = /<([^<>]+)>/.exec(text)?.[1] ?? text;
  const bare = inside.replace(/^[\s[({<]+|[\s\])}>]+$/g, "").replace(/^mailto:/i, "");
  return bare.replace(/^(["'])(.*)\1$/, "$2").trim();
}

/** What stands between two numbers in one text. */
const betweenNumbers = /[,;|/&\n]|\s(?:or|and)\s|\s(?=\+)/i;
const extension = /[([]?\s*(?:extension|extn|ext|x|#|poste|durchwahl)[\s.:#-]*(?:no\.?|number)?[\s.:#-]*\d+[\s.)\]]*$/i;
/** A number has a country, an area and a subscriber: 10 digits in the US, and nowhere more than 15. */
const wholeNumber = 10;
const longestNumber = 15;

/** The digits of the first number in a text; an extension is dropped. Null when there is no number. */
export function firstPhone(texts: readonly string[]): string | null {
  for (const part of texts.flatMap((text) => text.split(betweenNumbers))) {
    // A spreadsheet has rounded such a number away, and a data frame has put a decimal behind it.
    if (/^\s*\d(?:\.\d+)?e\+?\d+\s*$/i.test(part)) continue;
    const number = part.replace(/\.0\s*$/, "").replace(extension, "");
    const digits = digitsOf(number);
    // Letters that are digits on a keypad are not spelled out.
    if (digits === "" || (digits.length < 7 && /[a-z]{3}/i.test(number))) continue;
    const first = digits.length > longestNumber ? firstOfSeveral(number) : digits;
    if (first !== null) return first;
  }
  return null;
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, "");
}

/** Of numbers that only spaces part, the first: its groups end where it is whole. */
function firstOfSeveral(text: string): string | null {
  let digits = "";
  for (const group of text.split(/\s+/)) {
    digits += digitsOf(group);
    if (digits.length >= wholeNumber) break;
  }
  return digits.length <= longestNumber ? digits : null;
}

/** A page is a text: a number in its column counts pages. */
export function firstPage(cell: Cell): string | null {
  return textsOf(cell).find((text) => !/^\d+$/.test(text)) ?? null;
}

const codes = new Map<string, string>();
for (const { name, abbr } of states) {
  codes.set(stateKey(name), abbr);
  codes.set(stateKey(abbr), abbr);
}
// What the list writes otherwise than people do.
const furtherNames = {
  AA: "Armed Forces Americas, Armed Forces the Americas",
  AE: "Armed Forces Europe, Armed Forces Africa, Armed Forces Canada, Armed Forces Middle East, Armed Forces the Middle East",
  DC: "Washington DC, Washington D.C., DC Washington",
  MP: "Commonwealth of the Northern Mariana Islands, CNMI",
  VI: "US Virgin Islands, U.S. Virgin Islands, United States Virgin Islands, Virgin Islands of the United States",
};
for (const [code, names] of Object.entries(furtherNames)) {
  for (const name of names.split(", ")) codes.set(stateKey(name), code);
}

/** The two letters of a US state, of DC, a territory or the military mail; null for anything else. */
export function stateCode(text: string): string | null {
  return codes.get(stateKey(text)) ?? codes.get(stateKey(text).replace(/^us(?=..$)/, "")) ?? null;
}

function stateKey(name: string): string {
  return name
    .toLowerCase()
    .replace(/^(?:state|commonwealth) of /, "")
    .replaceAll(/[\s.,'’()-]/g, "");
}
