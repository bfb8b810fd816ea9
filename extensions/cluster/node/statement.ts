/**
 * Statements for the wire, made by Drizzle. rqlite takes a text such as x'41' for bytes, so that a city could become a blob:
 * all values of a statement go as one JSON text, which the statement takes apart itself.
 */
import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import type { Statement } from "./node.ts";

interface Built {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** A statement that Drizzle has built: from its builder of queries, or from words of our own. */
export function statementOf(query: SQL | { toSQL(): Built }): Statement {
  const { sql, params } = "toSQL" in query ? query.toSQL() : new SQLiteSyncDialect().sqlToQuery(query);
  return bind(sql, params);
}

/** A statement with a value for each of its question marks. */
export function bind(sql: string, params: readonly unknown[]): Statement {
  const values = params.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value));
  let place = 0;
  const taken = outsideOfTexts(sql, () => {
    const at = place++;
    const value = `json_extract(?1, '$[${at}]')`;
    return params[at] instanceof Uint8Array ? `unhex(${value})` : value;
  });
  if (place !== params.length) throw new Error(`a statement has ${place} places for ${params.length} values`);
  return { sql: taken, json: JSON.stringify(values) };
}

/** Puts something in the place of every question mark that is not part of a text or a name in quotes. */
function outsideOfTexts(sql: string, valueAt: () => string): string {
  return sql.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\?\d+|\?/g, (part) => (part === "?" ? valueAt() : part));
}
