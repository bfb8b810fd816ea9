/** One request, from its arrival to its response. */
import { Elysia } from "elysia";
import { paths, publicPaths } from "../contract/paths.ts";
import type { KnownKey } from "../db/reader.ts";

export interface Call {
  readonly request: Request;
  /** Our X-Request-Id. A client's own is not echoed. */
  readonly id: string;
  readonly arrivedMs: number;
  readonly startedNs: number;
  /** The path as it was sent, not decoded. */
  readonly path: string;
  /** The query as it was sent, without its question mark. */
  readonly search: string;
  /** The path if an endpoint or a public page is there, for logs and metrics; otherwise null. */
  readonly route: string | null;
  /** True if the path is outside the API, even if nothing is there: it needs no key and has no limit. */
  readonly isPublic: boolean;
  /** The live key; null if there is none. */
  key: KnownKey | null;
  /** The version of the database that this request is answered from. */
  databaseVersion: number;
  readonly limit: number;
  /** Requests left in the window of the key. */
  remaining: number;
}

/**
 * Gives handlers and hooks the call of their request, and routes of the API the key that may read them. onRequest sets
 * both before any other code of the app sees the context.
 */
export const calls = new Elysia({ name: "calls" })
  .decorate("call", null as unknown as Call)
  .decorate("key", null as unknown as KnownKey);

const publicOnes: ReadonlySet<string> = new Set(Object.values(publicPaths));
const routes: ReadonlySet<string> = new Set([...Object.values(paths), ...publicOnes]);

/** Begins a call, before anything of it is checked. */
export function beginCall(request: Request, limit: number, nowMs: number): Call {
  const { path, search } = targetOf(request.url);
  return {
    request,
    id: crypto.randomUUID(),
    arrivedMs: nowMs,
    startedNs: Bun.nanoseconds(),
    path,
    search,
    route: routes.has(path) ? path : null,
    isPublic: publicOnes.has(path) || path.startsWith(`${publicPaths.docs}/`),
    key: null,
    databaseVersion: Number.NaN,
    limit,
    remaining: limit,
  };
}

/** Returns the path and the query of a URL that begins with `http://`, a host, and a slash. */
function targetOf(url: string): Pick<Call, "path" | "search"> {
  const start = url.indexOf("/", "http://".length);
  const question = url.indexOf("?", start);
  if (question === -1) return { path: url.slice(start), search: "" };
  return { path: url.slice(start, question), search: url.slice(question + 1) };
}
