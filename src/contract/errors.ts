/** The twelve errors of the API (§7): status, message, condition and cure of each. */
import { type Static, Type } from "@sinclair/typebox";
import { namesOf } from "./names.ts";
import { paths, publicPaths } from "./paths.ts";

interface Definition {
  readonly status: 400 | 401 | 403 | 404 | 405 | 429 | 500;
  /** What the client is told; where it depends on facts, it is made of them. */
  readonly message: string | ((...facts: never[]) => string);
  /** When it is answered, as §7 has it. */
  readonly condition: string;
  /** What a client does about it. */
  readonly cure: string;
}

const takes = (parameter: string, accepts: string) => `The parameter ${parameter} takes ${accepts}.`;

/** Every code that an error body can carry, in the order of §7. */
export const errors = {
  missing_api_key: {
    status: 401,
    message: "No API key was sent; send the header Authorization: Bearer <API_KEY>.",
    condition: "No Authorization header with a Bearer key was sent.",
    cure: "Send the header Authorization: Bearer <API_KEY> with every request. A key in the URL is never read, and many clients drop the header when they follow a redirect to another host: address the host that this page names.",
  },
  invalid_api_key: {
    status: 401,
    message: "This API key does not exist. Check that the whole key was sent.",
    condition: "The key that was sent does not exist.",
    cure: 'Check that the whole key arrived: lf_ and 38 characters, without quotes. The owner of the server can test it with the admin command "key check", and make a new one with "key create".',
  },
  revoked_api_key: {
    status: 401,
    message: "This API key was revoked or has expired. Ask for a new one.",
    condition: "The key was revoked or has expired.",
    cure: "That is final: ask the owner of the server for a new key.",
  },
  subscription_required: {
    status: 403,
    message: "The account of this API key has no active subscription. The owner of the server can activate it.",
    condition: "The key is valid, but its account has no active subscription.",
    cure: 'The owner of the server activates the account with the admin command "account activate"; the same key then works again at once.',
  },
  invalid_parameter: {
    status: 400,
    message: takes,
    condition: "A query parameter is unknown, repeated, empty or malformed.",
    cure: "The message names the parameter and what it accepts. Nothing is ever clamped or ignored.",
  },
  invalid_cursor: {
    status: 400,
    message: takes,
    condition: "The cursor, the parameter before, is malformed.",
    cure: "Pass next_cursor of the page before as it came, percent-encoded. While next_cursor is null there is no further page.",
  },
  unknown_pixel: {
    status: 404,
    message: `The account has no pixel with this pixel_id; GET ${paths.pixels} lists them.`,
    condition: "The pixel_id is not that of a pixel of the account.",
    cure: `GET ${paths.pixels} lists the ids of the account.`,
  },
  not_found: {
    status: 404,
    message: `There is no endpoint here; the endpoints are ${Object.values(paths).join(", ")}.`,
    condition: "There is no endpoint at this path.",
    cure: `The endpoints are ${paths.leads}, ${paths.pixels} and ${paths.usage}, written exactly so: no trailing slash, lower case.`,
  },
  method_not_allowed: {
    status: 405,
    message: "This API is read-only; the only method is GET.",
    condition: "The method is not GET.",
    cure: "The API is read-only; send GET. HEAD and OPTIONS are refused as well.",
  },
  rate_limit_exceeded: {
    status: 429,
    message: (limitPerMin: number) =>
      `The limit of ${limitPerMin} requests a minute is used up; wait for the next minute.`,
    condition: "The key has used up its requests of this minute.",
    cure: "Wait for the seconds that Retry-After names, or until the moment of X-RateLimit-Reset, then go on. A refused request counts nowhere.",
  },
  internal_error: {
    status: 500,
    message: "The server failed. Try again in a moment.",
    condition: "The server failed, and not because of the request.",
    cure: "Send it again after a pause. If it stays, give the X-Request-Id of the answer to the owner of the server.",
  },
  query_failed: {
    status: 500,
    message: "The database could not be read. Try again in a moment.",
    condition: "The database could not be read.",
    cure: "Send it again after a pause. If it stays, give the X-Request-Id of the answer to the owner of the server.",
  },
} as const satisfies Record<string, Definition>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = namesOf(errors);

/** The body of every error (§2.5). */
export const ErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.Union(
          errorCodes.map((code) => Type.Literal(code)),
          { description: "Machine-readable code." },
        ),
        message: Type.String({ description: "Human-readable text." }),
        docs: Type.String({ format: "uri", description: "Link to the developer reference." }),
      },
      { additionalProperties: false },
    ),
  },
  { $id: "Error", additionalProperties: false },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** A refusal or failure that the client is told about: the message is public, the cause is for the log. */
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
type PlainCode = {
  [Code in ErrorCode]: (typeof errors)[Code]["message"] extends string ? Code : never;
}[ErrorCode];

/** The error of a code whose message is always the same. */
export function plainError(code: PlainCode, options?: { cause?: unknown }): ApiError {
  return new ApiError(code, errors[code].message, options);
}

/** The body of an error: `docs` leads to where its code is explained. */
export function errorBody(code: ErrorCode, message: string, baseUrl: string): ErrorBody {
  return { error: { code, message, docs: `${baseUrl}${publicPaths.docs}#${code}` } };
}
