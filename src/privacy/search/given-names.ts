/** What the operator has named after an erased person: the file of an import, a pixel, a key, a source, an account. It stays. */
import { isNotNull } from "drizzle-orm";
import type { Connection } from "../../db/connection.ts";
import { accounts, imports, keys, pixels, sources } from "../../db/schema.ts";

/** The names that hold an address, a phone or an id that is looked for, each once. */
export function givenNamesWith(database: Connection, holds: (text: string) => boolean): string[] {
  const texts = [
    ...database.select({ text: accounts.name }).from(accounts).all(),
    ...database.select({ text: pixels.id }).from(pixels).all(),
    ...database.selectDistinct({ text: imports.file }).from(imports).all(),
    ...database.selectDistinct({ text: imports.rejectsFile }).from(imports).where(isNotNull(imports.rejectsFile)).all(),
    ...database.select({ text: keys.label }).from(keys).where(isNotNull(keys.label)).all(),
    ...database.select({ text: sources.label }).from(sources).where(isNotNull(sources.label)).all(),
  ];
  return [...new Set(texts.flatMap(({ text }) => (text !== null && holds(text) ? [text] : [])))].toSorted();
}
