/** The access log: one line for each response, which the metrics count as well. */
import type { Logger } from "pino";
import type { AccessLog } from "../request-context.ts";
import type { CountResponse } from "./response-metrics.ts";

/** Makes the function that records the outcome of a request. The line contains no key, query string, or lead data. */
export function createAccessLog(log: Logger, countResponse: CountResponse): AccessLog {
  return (context, { status, code, cause }) => {
    const us = (Bun.nanoseconds() - context.startedNs) / 1000;
    // An unknown path must not create a new time series.
    const route = context.route ?? "other";
    countResponse(route, status, code ?? "", us / 1e6);
    const level = status >= 500 ? "error" : "info";
    if (!log.isLevelEnabled(level)) return;
    log[level]({
      method: context.request.method,
      path: context.route ?? safePath(context.path),
      status,
      code,
      us: Math.round(us),
      key: context.key?.prefix,
      id: context.id,
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
