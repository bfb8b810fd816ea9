/** A line in the log and a count for each answer, without a key, a query or anything of a lead. */
import type { Logger } from "pino";
import type { RequestContext } from "../context.ts";
import type { CountRequest } from "./request-metrics.ts";

export interface Outcome {
  readonly status: number;
  /** The error code. */
  readonly code?: string;
  /** What went wrong, for the log alone. */
  readonly cause?: unknown;
}

export interface AccessLog {
  record(context: RequestContext, outcome: Outcome): void;
  /** Notes that a live key was sent without TLS. */
  warnOfExposedKey(context: RequestContext, prefix: string): void;
}

export function createAccessLog(log: Logger, count: CountRequest): AccessLog {
  return {
    record(context, { status, code, cause }) {
      const us = (Bun.nanoseconds() - context.startedNs) / 1000;
      count(context.path, status, code ?? "", us);
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
        cause: cause === undefined ? undefined : describe(cause),
      });
    },
    warnOfExposedKey(context, prefix) {
      const told = "an API key crossed the network in the clear, over http; revoke it and make a new one";
      log.warn({ key: prefix, id: context.id }, told);
    },
  };
}

/** Somebody may put a key or an e-mail address into a path; the log must not show it. */
function safePath(path: string): string {
  return path
    .slice(0, 200)
    .replaceAll(/[^/]*(?:%|@|lf_)[^/]*/gi, "…")
    .replaceAll(/[0-9A-Za-z]{30,}/g, "…");
}

/** The innermost cause: the layers around it may quote the statement and its values. */
function describe(cause: unknown): string {
  let inner = cause;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  return inner instanceof Error ? `${inner.name}: ${inner.message}` : "an error that is not an Error";
}
