/** The errors that the client throws: the twelve of the API (§7), and those of settings and connections. */

/** The base of every error that the client throws, except that an abort throws the reason of its signal. */
export class LeadfileError extends Error {
  override readonly name: string = "LeadfileError";
  /** True if the same request can succeed later. */
  readonly transient: boolean = false;
  /** The wait that the server asks for, in milliseconds. */
  readonly retryAfterMs: number | null = null;
}

/** A setting, a duration, or a checkpoint is not usable. */
export class SettingError extends LeadfileError {
  override readonly name = "SettingError";
}

/** The server was not reached, or the connection broke; `reason` is the code of the system, such as ECONNREFUSED. */
export class NetworkError extends LeadfileError {
  override readonly name = "NetworkError";
  override readonly transient = true;

  constructor(
    message: string,
    readonly reason: string | null,
  ) {
    super(message);
  }
}

/** The response did not arrive within the timeout. */
export class TimeoutError extends LeadfileError {
  override readonly name = "TimeoutError";
  override readonly transient = true;
}

/** The server redirects to another address. The key was not sent there. */
export class RedirectError extends LeadfileError {
  override readonly name = "RedirectError";

  constructor(
    message: string,
    /** The origin to which the server redirects. */
    readonly location: string | null,
  ) {
    super(message);
  }
}

/** The response is not one of this API, such as the page of a proxy. Nothing of its body is kept. */
export class UnexpectedAnswerError extends LeadfileError {
  override readonly name = "UnexpectedAnswerError";
  override readonly transient: boolean;

  constructor(
    message: string,
    readonly status: number,
    readonly requestId: string | null,
    override readonly retryAfterMs: number | null,
  ) {
    super(message);
    this.transient = status === 200 || status === 429 || status >= 500;
  }
}

/** The server responded with an error. */
export class ApiError extends LeadfileError {
  /** That of the class, such as InvalidCursorError, also where a bundler renames classes. */
  override readonly name: string;
  override readonly transient: boolean;

  constructor(
    /** One of the twelve of §7, or one of a later version of the API. */
    readonly code: ErrorCode | (string & {}),
    message: string,
    readonly status: number,
    /** The address at which the server's documentation explains this code. */
    readonly docs: string,
    /** The ID under which the owner of the server finds the request in the log. */
    readonly requestId: string | null,
    override readonly retryAfterMs: number | null,
  ) {
    super(message);
    this.name = nameOf(code);
    this.transient = status === 429 || status >= 500;
  }
}

/** invalid_cursor as InvalidCursorError, and internal_error as InternalError. */
function nameOf(code: string): string {
  return `${code.replace(/_error$/, "").replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Error`;
}

/** 401: the request had no key. */
export class MissingApiKeyError extends ApiError {}

/** 401: the key does not exist. */
export class InvalidApiKeyError extends ApiError {}

/** 401: the key was revoked or has expired. This is final. */
export class RevokedApiKeyError extends ApiError {}

/** 403: the account has no active subscription. */
export class SubscriptionRequiredError extends ApiError {}

/** 400: a query parameter is unknown, repeated, empty or malformed; the message names it. */
export class InvalidParameterError extends ApiError {}

/** 400: `before` is malformed. */
export class InvalidCursorError extends ApiError {}

/** 404: the account has no pixel with this pixel_id. */
export class UnknownPixelError extends ApiError {}

/** 404: no endpoint has this path; the base address is probably wrong. */
export class NotFoundError extends ApiError {}

/** 405: the method is not GET. */
export class MethodNotAllowedError extends ApiError {}

/** 429: the requests of this minute are used up. */
export class RateLimitExceededError extends ApiError {}

/** 500: the server failed. */
export class InternalError extends ApiError {}

/** 500: the database of the server could not be read. */
export class QueryFailedError extends ApiError {}

/** The codes of the API (§7), each with its status and the class of its errors. */
export const errorCodes = {
  missing_api_key: [401, MissingApiKeyError],
  invalid_api_key: [401, InvalidApiKeyError],
  revoked_api_key: [401, RevokedApiKeyError],
  subscription_required: [403, SubscriptionRequiredError],
  invalid_parameter: [400, InvalidParameterError],
  invalid_cursor: [400, InvalidCursorError],
  unknown_pixel: [404, UnknownPixelError],
  not_found: [404, NotFoundError],
  method_not_allowed: [405, MethodNotAllowedError],
  rate_limit_exceeded: [429, RateLimitExceededError],
  internal_error: [500, InternalError],
  query_failed: [500, QueryFailedError],
} as const;

/** Every code of an error (§7). */
export type ErrorCode = keyof typeof errorCodes;

/** Returns whether a value is one of the error codes of §7. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(errorCodes, code);
}
