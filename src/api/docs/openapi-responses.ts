/** The answers in the description: bodies, headers and an example of every error. */
import type { TSchema } from "@sinclair/typebox";
import { ErrorBody, type ErrorCode, errorBody, errorCodes, errors } from "../../contract/errors.ts";
import { defaultLimitPerMin, retryAfterSeconds } from "../../contract/limits.ts";
import { bodyExamples, exampleMessage } from "./openapi-examples.ts";
import { type Json, nameOf } from "./openapi-schemas.ts";

/** The settings that stand in the examples. */
export interface ExampleSettings {
  readonly baseUrl: string;
  readonly limitPerMin: number;
}

/** The errors that any request can meet. */
const everywhere: readonly ErrorCode[] = [
  "missing_api_key",
  "invalid_api_key",
  "revoked_api_key",
  "subscription_required",
  "invalid_parameter",
  // Endpoints without parameters refuse a cursor with its code.
  "invalid_cursor",
  "rate_limit_exceeded",
  "internal_error",
  "query_failed",
];

/** The answers of an operation: the body of a 200, a redirect, and errors; `own` are those of this operation alone. */
export function responsesOf(
  success: TSchema,
  description: string,
  own: readonly ErrorCode[],
  settings: ExampleSettings,
): Json {
  const name = nameOf(success);
  const ok = {
    description,
    headers: headersOf(200),
    content: {
      "application/json": { schema: { $ref: `#/components/schemas/${name}` }, examples: bodyExamples[name] ?? {} },
    },
  };
  const codes = errorCodes.filter((code) => everywhere.includes(code) || own.includes(code));
  const byStatus = [...Map.groupBy(codes, (code) => errors[code].status)].toSorted(([one], [other]) => one - other);
  const failures = byStatus.map(([status, those]): [string, Json] => [
    String(status),
    failure(status, those, settings),
  ]);
  return Object.fromEntries([["200", ok], ["308", { $ref: "#/components/responses/Redirect" }], ...failures]);
}

/** The answers to another path, another method or another host. */
export function sharedResponses(settings: ExampleSettings): Json {
  return {
    NotFound: failure(404, ["not_found"], settings),
    MethodNotAllowed: failure(405, ["method_not_allowed"], settings),
    Redirect: {
      description:
        "The request came to the bare domain or over plain HTTP. Send it to `url` yourself: many clients drop the " +
        "Authorization header when they follow a redirect to another host. It counts nowhere.",
      headers: headersOf(308),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Redirect" } } },
    },
  };
}

function failure(status: number, codes: readonly ErrorCode[], { baseUrl, limitPerMin }: ExampleSettings): Json {
  const example = (code: ErrorCode): Json => ({
    summary: errors[code].condition,
    description: errors[code].cure,
    value: errorBody(code, exampleMessage(code, limitPerMin), baseUrl),
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].condition} ${errors[code].cure}`).join("\n\n"),
    headers: headersOf(status),
    content: {
      "application/json": {
        schema: { $ref: `#/components/schemas/${nameOf(ErrorBody)}` },
        examples: Object.fromEntries(codes.map((code) => [code, example(code)])),
      },
    },
  };
}

const always = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
  "Cache-Control",
  "X-Content-Type-Options",
];

const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  308: ["Location"],
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  429: ["Retry-After"],
};

function headersOf(status: number): Json {
  const names = [...always, ...(headersOfStatus[status] ?? [])];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Every header that an answer can carry. */
export function sharedHeaders(limitPerMin: number) {
  const header = (description: string, schema: Json) => ({ description, required: true, schema });
  const whole = (description: string, minimum: number, example: number) =>
    header(description, { type: "integer", minimum, examples: [example] });
  return {
    "X-RateLimit-Limit": whole("Requests per minute of a key.", 1, limitPerMin),
    "X-RateLimit-Remaining": whole(
      "Requests left in the current window, this one counted. Without a live key it is the whole limit.",
      0,
      defaultLimitPerMin - 1,
    ),
    "X-RateLimit-Reset": whole("Unix second at which the window, a UTC clock minute, ends.", 0, 1_769_850_960),
    "X-Request-Id": header("Names this request in the server's log; a client's own is not echoed.", {
      type: "string",
      format: "uuid",
      examples: ["5b0f3a3e-2f0c-4b7e-9d55-6a1c1d6f8e21"],
    }),
    "Cache-Control": header("Leads are not for caches.", { type: "string", const: "no-store" }),
    "X-Content-Type-Options": header("The body is JSON and nothing else.", { type: "string", const: "nosniff" }),
    "Retry-After": whole("Seconds to wait before the next request.", 1, retryAfterSeconds),
    "WWW-Authenticate": header("The scheme to use.", { type: "string", const: "Bearer" }),
    Allow: header("The one method of the API.", { type: "string", const: "GET" }),
    Location: header("The same path and query at the public address.", { type: "string", format: "uri" }),
  };
}
