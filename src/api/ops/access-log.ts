/** The access log: a log line and metrics for each response. */
import type { Logger } from "pino";
import type { Call } from "../call.ts";
import type { RequestMetrics } from "./metrics.ts";

export interface Outcome {
  readonly status: number;
  /** The error code. */
  readonly code?: string;
  /** The cause of a failure, for the log alone. */
  readonly cause?: string;
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
      key: call.key?.prefix,
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
