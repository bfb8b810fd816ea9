/**
 * The responses other than 200: the redirect, and the twelve errors of §7 with their status, condition, and message.
 * docs/api.md has the advice.
 */
import { type Static, Type } from "@sinclair/typebox";
import { withoutKeys } from "./key.ts";
import { namesOf } from "./names.ts";
import { paths, publicPaths } from "./paths.ts";
import { closestTo } from "./similar.ts";

interface Definition {
  readonly status: 400 | 401 | 403 | 404 | 405 | 429 | 500;
  /** The cause, in one sentence, as docs/api.md and /openapi.json state it. */
  readonly condition: string;
  /** The text for the client, unless it depends on the parameter. */
  readonly message?: string;
}

/** Every code that an error body can carry, in the order of §7. */
export const errors = {
  missing_api_key: {
    status: 401,
    condition: "No Authorization header with a Bearer key was sent.",
    message: "No API key was sent; send the header Authorization: Bearer <API_KEY>.",
  },
  invalid_api_key: {
    status: 401,
    condition: "The key does not exist.",
    message: "This API key does not exist. Check that the whole key was sent.",
  },
  revoked_api_key: {
    status: 401,
    condition: "The key was revoked or has expired.",
    message: "This API key was revoked or has expired. Ask the owner of the server for a new one.",
  },
  subscription_required: {
    status: 403,
    condition: "The key is valid, but its account has no active subscription.",
    message: "The account of this API key has no active subscription. The owner of the server can activate it.",
  },
  invalid_parameter: {
    status: 400,
    condition: "A query parameter is unknown, repeated, empty, or malformed.",
  },
  invalid_cursor: {
    status: 400,
    condition: "The cursor (the parameter `before`) is malformed.",
  },
  unknown_pixel: {
    status: 404,
    condition: "The account has no pixel with this `pixel_id`.",
    message: `The account has no pixel with this pixel_id; GET ${paths.pixels} lists them.`,
  },
  not_found: {
    status: 404,
    condition: "There is no endpoint at this path.",
    message: `There is no endpoint here; the endpoints are ${Object.values(paths).join(", ")}.`,
  },
  method_not_allowed: {
    status: 405,
    condition: "The method is not GET.",
    message: "This API is read-only; the only method is GET.",
  },
  rate_limit_exceeded: {
    status: 429,
    condition: "The key has used up its requests for this minute.",
    message: "The limit of requests per minute is used up; wait for the next minute.",
  },
  internal_error: {
    status: 500,
    condition: "The server failed; the request did not cause it.",
    message: "The server failed. Try again in a moment.",
  },
  query_failed: {
    status: 500,
    condition: "The database could not be read.",
    message: "The database could not be read. Try again in a moment.",
  },
} as const satisfies Record<string, Definition>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = namesOf(errors);

const ErrorDetail = Type.Object(
  {
    // No enum: clients that are generated from one refuse the error if a later version adds a code.
    code: Type.String({
      description: "Machine-readable code. A later version may add codes: treat an unknown one by its status.",
      examples: errorCodes,
    }),
    message: Type.String({ description: "Human-readable text." }),
    docs: Type.String({ format: "uri", description: "Link to the developer reference." }),
  },
  { $id: "ErrorDetail" },
);

/** The body of every error (§2.5). */
export const ErrorResponse = Type.Object({ error: ErrorDetail }, { $id: "ErrorResponse" });
export type ErrorResponse = Static<typeof ErrorResponse>;

/** The body of a 308. */
export const Redirect = Type.Object(
  {
    object: Type.Literal("redirect"),
    url: Type.String({ format: "uri", description: "The address to send the request to." }),
  },
  {
    $id: "Redirect",
    description:
      "The request came to the bare domain or over plain HTTP. Send it to `url` yourself: many clients drop the " +
      "Authorization header when they follow a redirect to another host. It is not counted anywhere.",
  },
);
export type Redirect = Static<typeof Redirect>;

/** The responses that every route can give besides 200. */
export const errorResponses = {
  308: Redirect,
  400: ErrorResponse,
  401: ErrorResponse,
  403: ErrorResponse,
  429: ErrorResponse,
  500: ErrorResponse,
} as const;

/** An error that the client is told about. The message is public; the cause is for the log. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }

  get status(): number {
    return errors[this.code].status;
  }
}

/** The codes whose message is always the same. */
type PlainCode = Exclude<ErrorCode, "invalid_parameter" | "invalid_cursor">;

/** Returns the error of a code whose message is always the same. */
export function plainError(code: PlainCode, options?: { cause?: unknown }): ApiError {
  return new ApiError(code, errors[code].message, options);
}

/** Returns the body of an error. Its `docs` link leads to the section on the code. */
export function errorBody({ code, message }: ApiError, baseUrl: string): ErrorResponse {
  return { error: { code, message, docs: `${baseUrl}${publicPaths.docs}#${code}` } };
}

/** Returns the 400 of a parameter: invalid_cursor for before, otherwise invalid_parameter (§4.1 rule 3, §7). */
function refusal(name: string, message: string): ApiError {
  return new ApiError(name === "before" ? "invalid_cursor" : "invalid_parameter", message);
}

/** Returns the 400 of a value that the schema of its parameter does not accept. */
export function invalidValue(name: string, value: unknown, accepted: string): ApiError {
  if (value === null) {
    return refusal(name, `The parameter ${name} is not percent-encoded UTF-8, or has a NUL; it takes ${accepted}.`);
  }
  if (value === "") return refusal(name, `The parameter ${name} is empty; it takes ${accepted}, or leave it out.`);
  const wrongPart = name === "before" || name === "since" ? wrongPartOfTime(String(value)) : undefined;
  if (wrongPart !== undefined) return refusal(name, `The parameter ${name} ${wrongPart}; it takes ${accepted}.`);
  return refusal(name, `The parameter ${name} takes ${accepted}.`);
}

/** Returns what a text lacks that is almost a time; undefined for any other text. */
function wrongPartOfTime(text: string): string | undefined {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return "is a date alone, without a time and an offset: add T00:00:00Z";
  if (/^\d{4}-\d{2}-\d{2} +\d/.test(text)) return "has a space between date and time: write a T";
  if (/^\d{4}-\d{2}-\d{2}T\d[\d:.]*$/i.test(text)) return "has no offset: add Z for UTC, or one such as -08:00";
  return undefined;
}

/** Returns the 400 of a parameter that was sent more than once. */
export function repeatedParameter(name: string): ApiError {
  return refusal(name, `The parameter ${name} was sent more than once; send it once.`);
}

/** Returns the 400 of a parameter that the endpoint does not have, with the one that was probably meant. */
export function unknownParameter(name: string, known: readonly string[]): ApiError {
  // A client may log the message, and the name may be a key that was sent by mistake.
  const safe = withoutKeys(name);
  const shown = safe.length > 40 ? `${safe.slice(0, 40)}…` : safe;
  const is = `The parameter ${JSON.stringify(shown)} is unknown`;
  if (known.length === 0) return refusal(name, `${is}; this endpoint takes no parameters.`);
  const close = closestTo(name, known);
  return refusal(name, close === null ? `${is}; accepted are ${known.join(", ")}.` : `${is}; did you mean ${close}?`);
}
