/** Lists as JSON in one cell of a table, as some vendors write them. */

/** The items of a list, those without a text left out; null for a text that is no list. */
export function itemsOfList(text: string): readonly string[] | null {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(itemText).filter((item) => item !== undefined) : null;
  } catch {
    return null;
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
