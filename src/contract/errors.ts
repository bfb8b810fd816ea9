/** The twelve errors of the API (§7): the status and the message of each. docs/api.md has its condition and the advice. */
import { type Static, Type } from "@sinclair/typebox";
import { namesOf } from "./names.ts";
import { paths, publicPaths } from "./paths.ts";

interface Definition {
  readonly status: 400 | 401 | 403 | 404 | 405 | 429 | 500;
  /** The text for the client, unless it depends on the parameter. */
  readonly message?: string;
}

/** Every code that an error body can carry, in the order of §7. */
export const errors = {
  missing_api_key: {
    status: 401,
    message: "No API key was sent; send the header Authorization: Bearer <API_KEY>.",
  },
  invalid_api_key: {
    status: 401,
    message: "This API key does not exist. Check that the whole key was sent.",
  },
  revoked_api_key: {
    status: 401,
    message: "This API key was revoked or has expired. Ask for a new one.",
  },
  subscription_required: {
    status: 403,
    message: "The account of this API key has no active subscription. The owner of the server can activate it.",
  },
  invalid_parameter: { status: 400 },
  invalid_cursor: { status: 400 },
  unknown_pixel: {
    status: 404,
    message: `The account has no pixel with this pixel_id; GET ${paths.pixels} lists them.`,
  },
  not_found: {
    status: 404,
    message: `There is no endpoint here; the endpoints are ${Object.values(paths).join(", ")}.`,
  },
  method_not_allowed: {
    status: 405,
    message: "This API is read-only; the only method is GET.",
  },
  rate_limit_exceeded: {
    status: 429,
    message: "The limit of requests per minute is used up; wait for the next minute.",
  },
  internal_error: {
    status: 500,
    message: "The server failed. Try again in a moment.",
  },
  query_failed: {
    status: 500,
    message: "The database could not be read. Try again in a moment.",
  },
} as const satisfies Record<string, Definition>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = namesOf(errors);

const ErrorDetail = Type.Object(
  {
    code: Type.Union(
      errorCodes.map((code) => Type.Literal(code)),
      { description: "Machine-readable code." },
    ),
    message: Type.String({ description: "Human-readable text." }),
    docs: Type.String({ format: "uri", description: "Link to the developer reference." }),
  },
  { $id: "ErrorDetail" },
);

/** The body of every error (§2.5). */
export const ErrorResponse = Type.Object({ error: ErrorDetail }, { $id: "ErrorResponse" });
export type ErrorResponse = Static<typeof ErrorResponse>;

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
