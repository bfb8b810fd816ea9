/** Sends one request, and interprets its response: as a body, or as the error to throw. */
import {
  ApiError,
  errorCodes,
  isErrorCode,
  LeadfileError,
  NetworkError,
  RedirectError,
  TimeoutError,
  UnexpectedAnswerError,
} from "./errors.ts";

/** The part of fetch that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The window of the limit (§8). */
export const windowMs = 60_000;

type Exchanged = Awaited<ReturnType<typeof exchange>>;

/**
 * Sends a request and reads its whole response, within a timeout. An abort ends it immediately.
 * Throws a NetworkError, a TimeoutError, or the reason of the signal. The error of fetch is not passed on: in some runtimes
 * it contains the request, and with it the key.
 */
export async function exchange(
  fetch: Fetch,
  url: URL,
  request: { readonly method: string; readonly headers: Readonly<Record<string, string>> },
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
) {
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? late : AbortSignal.any([signal, late]);
  try {
    const response = await fetch(url.href, { ...request, redirect: "manual", signal: either });
    return { response, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    if (late.aborted) throw new TimeoutError(`${url.origin} sent no complete response within ${timeoutMs} ms.`);
    const reason = codeOf(cause);
    const why = reason === null ? "" : ` (${reason})`;
    throw new NetworkError(`${url.origin} could not be reached, or the connection broke${why}.`, reason);
  }
}

/** Returns the code of a system error, such as ENOSPC, which Node may put into the cause; null if there is none. */
export function codeOf(cause: unknown): string | null {
  if (!(cause instanceof Error)) return null;
  const code = "code" in cause ? cause.code : null;
  if (typeof code === "string" && /^[A-Za-z_]{1,40}$/.test(code)) return code;
  return codeOf(cause.cause);
}

/** Returns the parsed body of a 200; throws for everything else. `redact` removes the key from a text. */
export function readAnswer({ response, text }: Exchanged, origin: string, redact: (text: string) => string): object {
  const { status, headers, type } = response;
  if (type === "opaqueredirect" || (status >= 300 && status < 400)) throw redirection(headers, origin);
  const body = parse(text);
  if (status === 200 && typeof body === "object" && body !== null) return body;
  const known = status >= 400 ? errorIn(body, response, redact) : null;
  throw known ?? unexpected(response, origin, "an answer that is not of this API");
}

/** Returns the error for a response that is not one of this API. */
export function unexpected(response: Response, origin: string, what: string): LeadfileError {
  const { status, headers } = response;
  const message = `${origin} gave ${what} (status ${status}). Check baseUrl, and any proxy in between.`;
  return new UnexpectedAnswerError(message, status, headers.get("x-request-id"), retryAfter(headers));
}

function redirection(headers: Headers, origin: string): RedirectError {
  const target = headers.get("location");
  const location = target !== null && URL.canParse(target, origin) ? new URL(target, origin).origin : null;
  const advice =
    location === null || location === origin
      ? "Check baseUrl, and any proxy in between."
      : `If that is your server, set baseUrl to ${location}; the key was not sent there.`;
  return new RedirectError(`${origin} points to ${location ?? "another address"}. ${advice}`, location);
}

/** Returns the value of a JSON text; undefined if it is not JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly docs?: unknown } | null;
}

/** A code that a later version of the API may add. */
const aCode = /^[a-z][a-z0-9_]{1,63}$/;

/** Returns the API error in a body, without the key; null if it has another shape, as from a proxy. */
function errorIn(body: unknown, { status, headers }: Response, redact: (text: string) => string): ApiError | null {
  const { code, message, docs } = (body as ErrorBody | null | undefined)?.error ?? {};
  const isOfApi = isErrorCode(code) || (typeof message === "string" && typeof docs === "string");
  if (typeof code !== "string" || !isOfApi || !aCode.test(code)) return null;
  const Class = isErrorCode(code) ? errorCodes[code][1] : ApiError;
  const shown = (text: unknown) => (typeof text === "string" ? redact(text) : null);
  const requestId = shown(headers.get("x-request-id"));
  return new Class(code, shown(message) ?? code, status, shown(docs) ?? "", requestId, retryAfter(headers));
}

/** Returns an error that passes. Throws any other one. */
export function transientOf(cause: unknown): LeadfileError {
  if (cause instanceof LeadfileError && cause.transient) return cause;
  throw cause;
}

/** Reads Retry-After, which is seconds or a date (RFC 9110), in milliseconds. */
function retryAfter(headers: Headers): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const untilMs = Date.parse(value) - serverNow(headers);
  return Number.isFinite(untilMs) ? Math.max(0, untilMs) : null;
}

/** Returns how long the window of the limit still lasts (§8); null if a clock is wrong, or the server does not say. */
export function untilReset(headers: Headers): number | null {
  const ms = Number(headers.get("x-ratelimit-reset")) * 1000 - serverNow(headers);
  return ms > 0 && ms <= windowMs ? ms : null;
}

/** Returns the time of the server, so that a client with a wrong clock waits the right time; NaN if it is not sent. */
function serverNow(headers: Headers): number {
  return Date.parse(headers.get("date") ?? "");
}
