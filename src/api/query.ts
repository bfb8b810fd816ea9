/** The query string, read strictly before Elysia validates it: every parameter known, sent once, and decodable. */
import type { TObject } from "@sinclair/typebox";
import { repeatedParameter, unknownParameter } from "../contract/errors.ts";
import type { RequestContext } from "./request-context.ts";

/** The decoder of each known parameter, by its name. */
type Decoders = Readonly<Record<string, (text: string) => unknown>>;

/**
 * Returns the hooks of a route with these parameters. Elysia would ignore unknown parameters, take the last of repeated
 * ones, and pass on what it cannot decode. The transform throws the 400 of the first unknown parameter, then that of the
 * first repeated one, and leaves the values for the schema to check.
 */
export function strictQuery<Parameters extends TObject>(query: Parameters, decoders: Decoders = {}) {
  return {
    query,
    transform(elysia: { readonly context: RequestContext; query: unknown }): void {
      elysia.query = readQuery(elysia.context.search, decoders);
    },
  };
}

function readQuery(search: string, decoders: Decoders): Record<string, unknown> {
  const known = Object.keys(decoders);
  const query: Record<string, unknown> = {};
  const repeated = new Set<string>();
  for (const pair of search.split("&")) {
    if (pair === "") continue;
    // Without an equals sign, the value is empty.
    const [rawName = "", rawValue = ""] = pair.split(/=(.*)/s);
    const name = decode(rawName) ?? rawName;
    const read = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (read === undefined) throw unknownParameter(name, known);
    if (Object.hasOwn(query, name)) repeated.add(name);
    else {
      const text = decode(rawValue);
      query[name] = text === null ? null : read(text);
    }
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
