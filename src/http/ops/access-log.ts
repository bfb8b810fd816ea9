/** A line in the log and a count for each answer, without a key, a query or anything of a lead. */
import type { Logger } from "pino";
import { Counter, Histogram, type Registry } from "prom-client";
import { paths } from "../../contract/paths.ts";
import type { RequestContext } from "../context.ts";

export interface Outcome {
  readonly status: number;
  /** The error code. */
  readonly code?: string;
  /** What went wrong, for the log alone. */
  readonly cause?: string;
}

/** Records how a request was answered. */
export type AccessLog = (context: RequestContext, outcome: Outcome) => void;

/** The upper ends of the classes of time, in seconds. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

/** Makes what writes the lines, and adds the counts to the metrics. */
export function createAccessLog(log: Logger, metrics: Registry): AccessLog {
  const requests = new Counter({
    name: "leadfile_requests_total",
    help: "Requests answered, by route, status and error code.",
    labelNames: ["route", "status", "code"],
    registers: [metrics],
  });
  const seconds = new Histogram({
    name: "leadfile_request_seconds",
    help: "Time from a request's arrival to its answer, by route.",
    labelNames: ["route"],
    buckets,
    registers: [metrics],
  });
  // What begins with 1 never grew for Prometheus: an alert on growth would miss the first failure.
  for (const route of Object.values(paths)) {
    for (const code of ["internal_error", "query_failed"]) requests.inc({ route, status: 500, code }, 0);
  }
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
