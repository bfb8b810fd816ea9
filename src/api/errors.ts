/** The only place that makes error bodies (§2.5, §7). */
import { NotFoundError, ValidationError } from "elysia";
import { ApiError, type ErrorCode, errorBody, errors, invalidValue, plainError } from "../contract/errors.ts";
import { retryAfterSeconds } from "../contract/limits.ts";
import { publicPaths } from "../contract/paths.ts";
import { innermost, isDatabaseFailure } from "../db/failure.ts";
import type { RequestContext } from "./request-context.ts";

/** Answers with the error for whatever was thrown. The cause goes to the log, and never to the client. */
export function respondWithError(context: RequestContext, thrown: unknown, baseUrl: string): Response {
  const error = toApiError(context, thrown);
  const { code, status, cause } = error;
  const body = JSON.stringify(errorBody(error, baseUrl));
  const forLog = cause === undefined ? {} : { cause: innermost(cause) };
  return context.respondJson({ status, code, ...forLog, headers: headersOf(code, context), body });
}

function toApiError(context: RequestContext, thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof NotFoundError) return notRouted(context.request.method);
  if (thrown instanceof ValidationError && thrown.valueError !== undefined) {
    const { path, value } = thrown.valueError;
    // The message is the `error` of the schema.
    return invalidValue(path.slice(1), value, thrown.message);
  }
  return plainError(isDatabaseFailure(thrown) ? "query_failed" : "internal_error", { cause: thrown });
}

/** Elysia has no route for this method and public path. */
function notRouted(method: string): ApiError {
  if (method !== "GET" && method !== "HEAD") return new ApiError("method_not_allowed", "This path takes GET and HEAD.");
  return new ApiError("not_found", `There is nothing at this path; see ${publicPaths.docs}.`);
}

/** Returns the headers that every response with a code has. */
function headersOf(code: ErrorCode, { isPublic }: RequestContext): Record<string, string> {
  if (errors[code].status === 401) return { "WWW-Authenticate": "Bearer" };
  if (code === "method_not_allowed") return { Allow: isPublic ? "GET, HEAD" : "GET" };
  return code === "rate_limit_exceeded" ? { "Retry-After": String(retryAfterSeconds) } : {};
}
