/** The context of one request, from its arrival to its answer: what is known of it. */
import { paths, publicPaths } from "../contract/paths.ts";
import type { KnownKey } from "../store/reading.ts";

export interface RequestContext {
  readonly request: Request;
  /** Ours; a client's own X-Request-Id is not echoed. */
  readonly id: string;
  readonly arrivedMs: number;
  readonly startedNs: number;
  /** As it was sent, not decoded. */
  readonly path: string;
  /** Likewise, without its question mark. */
  readonly search: string;
  /** The path where it is one that the server knows, an asset of the docs apart; null elsewhere. */
  readonly route: string | null;
  /** Whether the path is outside the API, even if nothing is there: it needs no key and has no limit. */
  readonly isPublic: boolean;
  /** The version of the store that this request is answered from, once auth has looked. */
  storeVersion: number;
  /** The live key that was presented, once auth has found it. */
  key: KnownKey | null;
  readonly limit: number;
  /** Requests left in the window. */
  remaining: number;
}

/** What every handler gets beside Elysia's own context, in the form that Elysia's types want. */
export type WithContext = {
  decorator: { context: RequestContext };
  store: Record<never, never>;
  derive: Record<never, never>;
  resolve: Record<never, never>;
};

const publicOnes: ReadonlySet<string> = new Set(Object.values(publicPaths));
const routes: ReadonlySet<string> = new Set([...Object.values(paths), ...publicOnes]);

/** Begins a request, before anything of it is checked. */
export function createContext(request: Request, limit: number, nowMs: number): RequestContext {
  const { path, search } = targetOf(request.url);
  return {
    request,
    id: crypto.randomUUID(),
    arrivedMs: nowMs,
    startedNs: Bun.nanoseconds(),
    path,
    route: routes.has(path) ? path : null,
    isPublic: publicOnes.has(path) || path.startsWith(`${publicPaths.docs}/`),
    search,
    storeVersion: Number.NaN,
    key: null,
    limit,
    remaining: limit,
  };
}

/** The path and the query of a URL that begins with `http://` and a host. */
function targetOf(url: string): Pick<RequestContext, "path" | "search"> {
  const start = url.indexOf("/", "http://".length);
  const question = url.indexOf("?", start);
  if (question === -1) return { path: url.slice(start), search: "" };
  return { path: url.slice(start, question), search: url.slice(question + 1) };
}

/** The key of a request that auth has let through. */
export function keyOf({ key }: RequestContext): KnownKey {
  if (key === null) throw new Error("a request without a key was let through");
  return key;
}
