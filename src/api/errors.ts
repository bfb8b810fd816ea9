/** The one place that makes error bodies (§2.5, §7). */
import { ApiError, type ErrorCode, errorBody, plainError } from "../contract/errors.ts";
import { retryAfterSeconds } from "../contract/limits.ts";
import { innermost } from "../store/errors.ts";
import { QueryFailed } from "../store/reading.ts";
import type { RequestContext } from "./context.ts";
import type { Reply } from "./reply.ts";

/** Makes the answer to whatever was thrown. The cause goes to the log, and never to the client. */
export function createErrorReply(baseUrl: string, reply: Reply) {
  return (context: RequestContext, thrown: unknown): Response => {
    const { code, message, status, cause } = toApiError(thrown);
    const body = JSON.stringify(errorBody(code, message, baseUrl));
    const forLog = cause === undefined ? {} : { cause: innermost(cause) };
    return reply(context, { status, code, ...forLog, headers: headersOf(code, context), body });
  };
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return plainError(thrown instanceof QueryFailed ? "query_failed" : "internal_error", { cause: thrown });
}

/** Headers that belong to a code, whoever raises it. */
function headersOf(code: ErrorCode, { isPublic }: RequestContext): Record<string, string> {
  switch (code) {
    case "missing_api_key":
    case "invalid_api_key":
    case "revoked_api_key":
      return { "WWW-Authenticate": "Bearer" };
    case "method_not_allowed":
      return { Allow: isPublic ? "GET, HEAD" : "GET" };
    case "rate_limit_exceeded":
      return { "Retry-After": String(retryAfterSeconds) };
    default:
      return {};
  }
}
