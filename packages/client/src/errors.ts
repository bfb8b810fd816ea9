/** What can go wrong, as classes: the twelve errors of the API (§7), and what happens on the way to it. */
import type { ErrorCode } from "./contract.ts";

/** Whatever the client throws by itself; an abort throws the reason of its signal. */
export class LeadfileError extends Error {
  override readonly name: string = "LeadfileError";

  constructor(
    message: string,
    /** Whether the same request may succeed later. */
    readonly transient: boolean = false,
    /** How long the server asks to wait, in milliseconds. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
  }
}

/** A setting, a duration or a checkpoint that the client cannot work with. */
export class SettingError extends LeadfileError {
  override readonly name = "SettingError";
}

/** The server was not reached, or the connection broke; `reason` is the code of the system, such as ECONNREFUSED. */
export class NetworkError extends LeadfileError {
  override readonly name = "NetworkError";

  constructor(
    message: string,
    readonly reason: string | null,
  ) {
    super(message, true);
  }
}

/** No whole answer came within the time for one. */
export class TimeoutError extends LeadfileError {
  override readonly name = "TimeoutError";

  constructor(message: string) {
    super(message, true);
  }
}

/** The server's address is another one. The key was not sent there. */
export class RedirectError extends LeadfileError {
  override readonly name = "RedirectError";

  constructor(
    message: string,
    /** The origin to which the server points. */
    readonly location: string | null,
  ) {
    super(message);
  }
}

/** An answer that is not of this API, such as the page of a proxy; nothing of its body is kept. */
export class UnexpectedAnswerError extends LeadfileError {
  override readonly name = "UnexpectedAnswerError";

  constructor(
    message: string,
    readonly status: number,
    readonly requestId: string | null,
    retryAfterMs: number | null,
  ) {
    super(message, status === 200 || status === 429 || status >= 500, retryAfterMs);
  }
}

/** What an error body and its headers say. */
export interface ErrorParts {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly docs: string;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
}

/** An error that the server answered. */
export class ApiError extends LeadfileError {
  override readonly name: string = "ApiError";
  readonly status: number;
  readonly code: ErrorCode;
  /** Where the server's pages say what to do about this code. */
  readonly docs: string;
  /** What the owner of the server finds in the log. */
  readonly requestId: string | null;

  constructor({ status, code, message, docs, requestId, retryAfterMs }: ErrorParts) {
    super(message, status === 429 || status >= 500, retryAfterMs);
    this.status = status;
    this.code = code;
    this.docs = docs;
    this.requestId = requestId;
  }
}

/** 401: no key arrived. */
export class MissingApiKeyError extends ApiError {
  override readonly name = "MissingApiKeyError";
}

/** 401: the key does not exist. */
export class InvalidApiKeyError extends ApiError {
  override readonly name = "InvalidApiKeyError";
}

/** 401: the key was revoked or has expired; that is final. */
export class RevokedApiKeyError extends ApiError {
  override readonly name = "RevokedApiKeyError";
}

/** 403: the account has no active subscription. */
export class SubscriptionRequiredError extends ApiError {
  override readonly name = "SubscriptionRequiredError";
}

/** 400: a query parameter is unknown, repeated, empty or malformed; the message names it. */
export class InvalidParameterError extends ApiError {
  override readonly name = "InvalidParameterError";
}

/** 400: `before` is malformed. */
export class InvalidCursorError extends ApiError {
  override readonly name = "InvalidCursorError";
}

/** 404: the pixel_id is not that of a pixel of the account. */
export class UnknownPixelError extends ApiError {
  override readonly name = "UnknownPixelError";
}

/** 404: there is no endpoint at this path; the base address is probably wrong. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}

/** 405: the method is not GET. */
export class MethodNotAllowedError extends ApiError {
  override readonly name = "MethodNotAllowedError";
}

/** 429: the requests of this minute are used up. */
export class RateLimitExceededError extends ApiError {
  override readonly name = "RateLimitExceededError";
}

/** 500: the server failed. */
export class InternalError extends ApiError {
  override readonly name = "InternalError";
}

/** 500: the database of the server could not be read. */
export class QueryFailedError extends ApiError {
  override readonly name = "QueryFailedError";
}

const classOf: Record<ErrorCode, new (parts: ErrorParts) => ApiError> = {
  missing_api_key: MissingApiKeyError,
  invalid_api_key: InvalidApiKeyError,
  revoked_api_key: RevokedApiKeyError,
  subscription_required: SubscriptionRequiredError,
  invalid_parameter: InvalidParameterError,
  invalid_cursor: InvalidCursorError,
  unknown_pixel: UnknownPixelError,
  not_found: NotFoundError,
  method_not_allowed: MethodNotAllowedError,
  rate_limit_exceeded: RateLimitExceededError,
  internal_error: InternalError,
  query_failed: QueryFailedError,
};

/** The error of a code; null for a code that this API does not have. */
export function apiError(parts: Omit<ErrorParts, "code"> & { readonly code: string }): ApiError | null {
  if (!Object.hasOwn(classOf, parts.code)) return null;
  const code = parts.code as ErrorCode; // The table has it.
  return new classOf[code]({ ...parts, code });
}
