/** The response to an API request: its headers (§8), its line in the access log, and its metrics. */
import type { Logger } from "pino";
import { windowMs } from "../contract/limits.ts";
import type { Call } from "./call.ts";
import type { RequestMetrics } from "./ops/metrics.ts";

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

/** Records the outcome of a request. Contains no key, query string, or lead data. */
export type AccessLog = (call: Call, outcome: Outcome) => void;

/** Makes the function that writes a line to the log for each answer, and counts it in the metrics. */
export function createAccessLog(log: Logger, { requests, seconds }: RequestMetrics): AccessLog {
  return (call, { status, code, cause }) => {
    const us = (Bun.nanoseconds() - call.startedNs) / 1000;
    // An unknown path must not create a new time series.
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
      key: call.key?.prefix,
      id: call.id,
      cause,
    });
  };
}

/** Masks the parts of a path that may be a key, an email address, or a phone number, so that they are not logged. */
function safePath(path: string): string {
  return path
    .slice(0, 200)
    .replaceAll(/[^/]*(?:%|@|lf_|(?:\d[-.+()]?){7})[^/]*/gi, "…")
    .replaceAll(/[0-9A-Za-z]{30,}/g, "…");
}
