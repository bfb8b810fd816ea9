/** One request of the app, from its arrival to its response, its line in the log, and its count in the metrics. */
import { Elysia } from "elysia";
import type { Logger } from "pino";
import { windowMs } from "../contract/limits.ts";
import { paths, publicPaths } from "../contract/paths.ts";
import type { KnownKey } from "../db/reader.ts";
import type { RequestMetrics } from "./ops/metrics.ts";

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
  credential: Credential;
  /** The version of the database that this request is answered from. */
  databaseVersion: number;
  readonly limit: number;
  /** Requests left in the window of the key. */
  remaining: number;
}

/** The content of the Authorization header: a live key, or why there is none. */
export type Credential = KnownKey | "missing_api_key" | "invalid_api_key" | "revoked_api_key";

/** Gives handlers and hooks the call of their request. */
export const calls = new Elysia({ name: "calls" }).decorate(
  "call",
  null as unknown as Call, // onRequest sets it before any other code of the app sees the context.
);

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
    credential: "missing_api_key",
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

interface Outcome {
  readonly status: number;
  /** The error code. */
  readonly code?: string;
  /** The cause of a failure, for the log alone. */
  readonly cause?: string;
}

interface Answer extends Outcome {
  readonly body: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** Answers a request of the API. */
export type Reply = (call: Call, answer: Answer) => Response;

/**
 * Makes the function that answers with JSON and the headers of §8, whatever the status. The headers are on the Response:
 * Elysia copies a Response through its body stream if they are in `set.headers`.
 */
export function createReply(record: AccessLog): Reply {
  return (call, answer) => {
    record(call, answer);
    const headers = {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-RateLimit-Limit": String(call.limit),
      "X-RateLimit-Remaining": String(call.remaining),
      "X-RateLimit-Reset": String(windowEndSeconds(call.arrivedMs)),
      "X-Request-Id": call.id,
      ...answer.headers,
    };
    return new Response(answer.body, { status: answer.status, headers });
  };
}

/** Returns the Unix second at which the current window ends. */
function windowEndSeconds(nowMs: number): number {
  return (Math.floor(nowMs / windowMs) + 1) * (windowMs / 1000);
}

/** Records how a request was answered, without a key, a query, or anything of a lead. */
export type AccessLog = (call: Call, outcome: Outcome) => void;

/** Makes the function that writes a line to the log for each answer, and counts it in the metrics. */
export function createAccessLog(log: Logger, { requests, seconds }: RequestMetrics): AccessLog {
  return (call, { status, code, cause }) => {
    const us = (Bun.nanoseconds() - call.startedNs) / 1000;
    // An unknown path must not make the counts grow.
    const route = call.route ?? "other";
    requests.inc({ route, status, code: code ?? "" });
    seconds.observe({ route }, us / 1e6);
    const level = status >= 500 ? "error" : "info";
    if (!log.isLevelEnabled(level)) return;
    log[level]({
      method: call.request.method,
      path: call.route ?? safePath(call.path),
      status,
      code,
      us: Math.round(us),
      key: typeof call.credential === "string" ? undefined : call.credential.prefix,
      id: call.id,
      cause,
    });
  };
}

/** Somebody may put a key, an email address, or a phone into a path. The log must not show it. */
function safePath(path: string): string {
  return path
    .slice(0, 200)
    .replaceAll(/[^/]*(?:%|@|lf_|(?:\d[-.+()]?){7})[^/]*/gi, "…")
    .replaceAll(/[0-9A-Za-z]{30,}/g, "…");
}
