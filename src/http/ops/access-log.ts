/** What is kept of each answer: a line in the log and a count, neither with a key, a query or anything of a lead. */
import type { Logger } from "pino";
import type { Visit } from "../context.ts";
import type { Metrics } from "./metrics.ts";

export interface Outcome {
  readonly status: number;
  /** The error code. */
  readonly code?: string;
  /** What went wrong, for the log alone. */
  readonly cause?: unknown;
}

export interface Journal {
  record(visit: Visit, outcome: Outcome): void;
  /** Notes that a live key was sent without TLS. */
  warnOfExposedKey(visit: Visit, prefix: string): void;
}

export function createJournal(log: Logger, metrics: Metrics): Journal {
  return {
    record(visit, { status, code, cause }) {
      const us = (Bun.nanoseconds() - visit.startedNs) / 1000;
      metrics.count(visit.path, status, code ?? "", us);
      const level = status >= 500 ? "error" : "info";
      if (!log.isLevelEnabled(level)) return;
      log[level]({
        method: visit.request.method,
        path: safePath(visit.path),
        status,
        code,
        us: Math.round(us),
        key: visit.key?.prefix,
        id: visit.id,
        cause: cause === undefined ? undefined : describe(cause),
      });
    },
    warnOfExposedKey(visit, prefix) {
      const told = "an API key crossed the network in the clear, over http; revoke it and make a new one";
      log.warn({ key: prefix, id: visit.id }, told);
    },
  };
}

/** A path that somebody put a key or an e-mail address into must not carry it into the log. */
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
