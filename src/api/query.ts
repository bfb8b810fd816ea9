/** The query string, read strictly before Elysia validates it: every parameter known, sent once, and decodable. */
import type { TObject } from "@sinclair/typebox";
import { repeatedParameter, unknownParameter } from "../contract/errors.ts";
import type { RequestContext } from "./request-context.ts";

/**
 * Returns the hooks of a route with these parameters. Elysia would ignore unknown parameters, take the last of repeated
 * ones, and pass on what it cannot decode. The transform throws the 400 of the first unknown parameter, then that of the
 * first repeated one, and leaves the values for the schema to check.
 */
export function strictQuery<Parameters extends TObject>(query: Parameters) {
  const known = Object.keys(query.properties);
  return {
    query,
    transform(elysia: { readonly context: RequestContext; query: unknown }): void {
      elysia.query = readQuery(elysia.context.search, known);
    },
  };
}

function readQuery(search: string, known: readonly string[]): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  const repeated = new Set<string>();
  for (const pair of search.split("&")) {
    if (pair === "") continue;
    // Without an equals sign, the value is empty.
    const [rawName = "", rawValue = ""] = pair.split(/=(.*)/s);
    const name = decode(rawName) ?? rawName;
    if (!known.includes(name)) throw unknownParameter(name, known);
    if (Object.hasOwn(query, name)) repeated.add(name);
    else query[name] = readValue(name, decode(rawValue));
  }
  const first = Object.keys(query).find((name) => repeated.has(name));
  if (first !== undefined) throw repeatedParameter(first);
  return query;
}

/** Decodes a name or a value; null if it is not percent-encoded UTF-8, or has a NUL. */
function decode(raw: string): string | null {
  // Most names and values are plain. To see that costs a fraction of decoding them.
  if (!/[%+]/.test(raw)) return raw;
  try {
    const text = decodeURIComponent(raw.replaceAll("+", " "));
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** Returns the value that a text stands for. A text that is no value stays as it is, and fails validation. */
function readValue(name: string, text: string | null): unknown {
  // "05", "5.0" and "0x5" are other ways to write a number. Only the canonical one is accepted.
  if (name === "limit" && String(Number(text)) === text) return Number(text);
  if (name === "has_email" && (text === "true" || text === "false")) return text === "true";
  // A + that was not encoded has become a space.
  if (name === "before" || name === "since") return text?.replace(/ (\d{2}:?\d{2})$/, "+$1") ?? null;
  return text;
}
