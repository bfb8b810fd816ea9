/** One request from its arrival to its answer: what is known of it, and the one way in which it is answered. */
import type { Logger } from "pino";
import { windowEndSeconds } from "../limiter.ts";
import type { KnownKey } from "../store.ts";

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

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
  /** The error code, for the log. */
  readonly code?: string;
  /** What went wrong, for the log alone. */
  readonly cause?: unknown;
}

/** Answers a request of the API: JSON with the headers of §8, whatever the status. */
export function answer(visit: Visit, log: Logger, { status, body, headers, code, cause }: Answer): Response {
  logVisit(visit, log, status, code, cause);
  return new Response(body, {
    status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-RateLimit-Limit": String(visit.limit),
      "X-RateLimit-Remaining": String(visit.remaining),
      "X-RateLimit-Reset": String(windowEndSeconds(visit.arrivedMs)),
      "X-Request-Id": visit.id,
      ...headers,
    },
  });
}

/** One line per request: no query, no key but its first characters, nothing of a lead. */
export function logVisit(visit: Visit, log: Logger, status: number, code?: string, cause?: unknown): void {
  const level = status >= 500 ? "error" : "info";
  if (!log.isLevelEnabled(level)) return;
  log[level]({
    method: visit.request.method,
    path: safePath(visit.path),
    status,
    code,
    us: Math.round((Bun.nanoseconds() - visit.startedNs) / 1000),
    key: visit.key?.prefix,
    id: visit.id,
    cause: cause === undefined ? undefined : describe(cause),
  });
}

function targetOf(url: string): { path: string; search: string } {
  // Without a usable Host header, Bun's url is the target alone.
  const start = url.startsWith("/") ? 0 : Math.max(0, url.indexOf("/", url.indexOf("://") + 3));
  const question = url.indexOf("?", start);
  if (question === -1) return { path: url.slice(start), search: "" };
  return { path: url.slice(start, question), search: url.slice(question + 1) };
}

/** A path that somebody put a key or an e-mail address into must not carry it into the log. */
function safePath(path: string): string {
  return path
    .slice(0, 200)
    .replaceAll(/lf_\w*/gi, "lf_…")
    .replaceAll(/[^/]*(?:@|%40)[^/]*/gi, "…");
}

/** The innermost cause: the layers around it may quote the statement and its values. */
function describe(cause: unknown): string {
  let inner = cause;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  return inner instanceof Error ? `${inner.name}: ${inner.message}` : "an error that is not an Error";
}
