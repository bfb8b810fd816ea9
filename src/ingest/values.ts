/** Values of a lead out of the cells of a file (decisions on what a lead is): trimmed, and otherwise kept as they came. */

/** What a file has in one place: a text, or the texts of a list. */
export type Cell = string | readonly string[] | undefined;

/** The first value of its kind in a cell; null where there is none. */
export interface FirstOf {
  readonly value: string | null;
  /** Whether the cell held more than it: a name, brackets, a further value. */
  readonly cut: boolean;
}

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

/** A page is a text: a number in its column counts pages. */
export function firstPage(cell: Cell): string | null {
  return textsOf(cell).find((text) => !/^\d+$/.test(text)) ?? null;
}
