/** What the operator has named after an erased person: the file of an import, a key, a source, an account. It stays. */
import { isNotNull } from "drizzle-orm";
import type { Connection } from "../../connection.ts";
import { accounts, imports, keys, sources } from "../../schema.ts";
import type { Search } from "./byte-search.ts";
import type { Wanted } from "./forms.ts";

/** The names that hold an address, a phone or an id that is looked for, each once. */
export function givenNamesWith(database: Connection, search: Search, kinds: readonly Wanted["kind"][]): string[] {
  if (search.reach === 0) return [];
  const texts = [
    ...database.select({ text: accounts.name }).from(accounts).all(),
    ...database.selectDistinct({ text: imports.file }).from(imports).all(),
    ...database.selectDistinct({ text: imports.rejectsFile }).from(imports).where(isNotNull(imports.rejectsFile)).all(),
    ...database.select({ text: keys.label }).from(keys).where(isNotNull(keys.label)).all(),
    ...database.select({ text: sources.label }).from(sources).where(isNotNull(sources.label)).all(),
  ];
  const named = texts.flatMap(({ text }) => (text !== null && holds(text, search, kinds) ? [text] : []));
  return [...new Set(named)].toSorted();
}

function holds(text: string, search: Search, kinds: readonly Wanted["kind"][]): boolean {
  const bytes = Buffer.from(text);
  let isFound = false;
  search.look(bytes, 0, bytes.length, (value) => {
    // The name of a person alone may be that of a town or a product as well.
    if (kinds[value] !== "exact") isFound = true;
  });
  return isFound;
}
