/** The one place that makes error bodies (§2.5, §7). */
import { ApiError, type ErrorCode, errorBody, plainError } from "../contract/errors.ts";
import { retryAfterSeconds } from "../contract/limits.ts";
import { StoreFailure } from "../store/reading.ts";
import type { Visit } from "./context.ts";
import type { Journal } from "./ops/access-log.ts";
import { answer } from "./reply.ts";

/** Headers that belong to a code, whoever raises it. */
const headersOf: Partial<Record<ErrorCode, Record<string, string>>> = {
  missing_api_key: { "WWW-Authenticate": "Bearer" },
  invalid_api_key: { "WWW-Authenticate": "Bearer" },
  revoked_api_key: { "WWW-Authenticate": "Bearer" },
  method_not_allowed: { Allow: "GET" },
  rate_limit_exceeded: { "Retry-After": String(retryAfterSeconds) },
};

export type Failing = (visit: Visit, error: unknown, headers?: Record<string, string>) => Response;

/** Makes the answer to whatever was thrown; what it was is logged, and never shown. */
export function createFailing(baseUrl: string, journal: Journal): Failing {
  return (visit, thrown, headers) => {
    const error = toApiError(thrown);
    const { code, message, status, cause } = error;
    const all = { ...headersOf[code], ...headers };
    return answer(visit, journal, {
      status,
      code,
      cause,
      headers: all,
      body: JSON.stringify(errorBody(code, message, baseUrl)),
    });
  };
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof StoreFailure) {
    return plainError("query_failed", { cause: thrown });
  }
  return plainError("internal_error", { cause: thrown });
}
