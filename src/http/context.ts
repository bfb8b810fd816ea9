/** The context of one request, from its arrival to its answer: what is known of it. */
import { publicPaths } from "../contract/paths.ts";
import type { KnownKey } from "../store/reading.ts";

export interface RequestContext {
  readonly request: Request;
  /** Ours; a client's own X-Request-Id is not echoed. */
  readonly id: string;
  readonly arrivedMs: number;
  readonly startedNs: number;
  /** As it was sent: not decoded, no query. */
  readonly path: string;
  /** Whether the path is outside the API, even if nothing is there: it needs no key and has no limit. */
  readonly isPublic: boolean;
  /** The query without its question mark. */
  readonly search: string;
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

export function createContext(request: Request, limit: number, nowMs: number): RequestContext {
  const { path, search } = targetOf(request.url);
  return {
    request,
    id: crypto.randomUUID(),
    arrivedMs: nowMs,
    startedNs: Bun.nanoseconds(),
    path,
    isPublic: publicOnes.has(path) || path.startsWith(`${publicPaths.docs}/`),
    search,
    key: null,
    limit,
    remaining: limit,
  };
}

/** The key of a request that auth has let through. */
export function keyOf({ key }: RequestContext): KnownKey {
  if (key === null) throw new Error("a request without a key was let through");
  return key;
}

function targetOf(url: string): { path: string; search: string } {
  // Without a usable Host header, Bun's url is the target alone.
  const start = url.startsWith("/") ? 0 : Math.max(0, url.indexOf("/", url.indexOf("://") + 3));
  const question = url.indexOf("?", start);
  if (question === -1) return { path: url.slice(start), search: "" };
  return { path: url.slice(start, question), search: url.slice(question + 1) };
}
