/** The answer to a request of the API, and what is recorded of every answer: a line in the log, and a count. */
import type { Logger } from "pino";
import { windowMs } from "../contract/limits.ts";
import type { RequestContext } from "./context.ts";
import type { RequestMetrics } from "./ops/metrics.ts";

interface Outcome {
  readonly status: number;
  /** The error code. */
  readonly code?: string;
  /** What went wrong, for the log alone. */
  readonly cause?: string;
}

export interface Answer extends Outcome {
  readonly body: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** The one way in which a request of the API is answered. */
export type Reply = (context: RequestContext, answer: Answer) => Response;

/** Answers with JSON and the headers of §8, whatever the status. */
export function createReply(record: AccessLog): Reply {
  return (context, answer) => {
    record(context, answer);
    const headers = {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-RateLimit-Limit": String(context.limit),
      "X-RateLimit-Remaining": String(context.remaining),
      "X-RateLimit-Reset": String(windowEndSeconds(context.arrivedMs)),
      "X-Request-Id": context.id,
      ...answer.headers,
    };
    return new Response(answer.body, { status: answer.status, headers });
  };
}

/** The Unix second at which the window of a moment ends. */
function windowEndSeconds(nowMs: number): number {
  return (Math.floor(nowMs / windowMs) + 1) * (windowMs / 1000);
}

/** Records how a request was answered, without a key, a query or anything of a lead. */
export type AccessLog = (context: RequestContext, outcome: Outcome) => void;

/** Writes a line in the log for each answer, and counts it in the metrics. */
export function createAccessLog(log: Logger, { requests, seconds }: RequestMetrics): AccessLog {
  return (context, { status, code, cause }) => {
    const us = (Bun.nanoseconds() - context.startedNs) / 1000;
    // An unknown path must not make the counts grow.
    const route = context.route ?? "other";
    requests.inc({ route, status, code: code ?? "" });
    seconds.observe({ route }, us / 1e6);
    const level = status >= 500 ? "error" : "info";
    if (!log.isLevelEnabled(level)) return;
    log[level]({
      method: context.request.method,
      path: safePath(context.path),
      status,
      code,
      us: Math.round(us),
      key: context.key?.prefix,
      id: context.id,
      cause,
    });
  };
}

/** Somebody may put a key, an e-mail address or a phone into a path; the log must not show it. */
function safePath(path: string): string {
  return path
    .slice(0, 200)
    .replaceAll(/[^/]*(?:%|@|lf_|(?:\d[-.+()]?){7})[^/]*/gi, "…")
    .replaceAll(/[0-9A-Za-z]{30,}/g, "…");
}
