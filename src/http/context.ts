/** One request from its arrival to its answer: what is known of it. */
import type { KnownKey } from "../store/reading.ts";

export interface Visit {
  readonly request: Request;
  /** Ours; a client's own X-Request-Id is not echoed. */
  readonly id: string;
  readonly arrivedMs: number;
  readonly startedNs: number;
  /** As it was sent: not decoded, no query. */
  readonly path: string;
  /** The query without its question mark. */
  readonly search: string;
  /** The live key that was presented, once the gate has found it. */
  key: KnownKey | null;
  readonly limit: number;
  /** Requests left in the window. */
  remaining: number;
}

/** Tells Elysia the type alone: every request gets a visit of its own on arrival, before anything can read it. */
export const aVisit = null as unknown as Visit;

export function arrive(request: Request, limit: number, nowMs: number): Visit {
  const { path, search } = targetOf(request.url);
  return {
    request,
    id: crypto.randomUUID(),
    arrivedMs: nowMs,
    startedNs: Bun.nanoseconds(),
    path,
    search,
    key: null,
    limit,
    remaining: limit,
  };
}

/** The caller that the gate let through. */
export function callerOf(visit: Visit): KnownKey {
  if (visit.key === null) throw new Error("a request without a key came past the gate");
  return visit.key;
}

function targetOf(url: string): { path: string; search: string } {
  // Without a usable Host header, Bun's url is the target alone.
  const start = url.startsWith("/") ? 0 : Math.max(0, url.indexOf("/", url.indexOf("://") + 3));
  const question = url.indexOf("?", start);
  if (question === -1) return { path: url.slice(start), search: "" };
  return { path: url.slice(start, question), search: url.slice(question + 1) };
}
