/** What the routes do not say of the API, for its description: the introduction, the key, and the headers. */
import { version } from "../../../package.json";
import { defaultLimitPerMin, retryAfterSeconds } from "../../contract/limits.ts";
import { publicPaths } from "../../contract/paths.ts";
import { adminCommand } from "../../program-name.ts";

/** Everything apart from the paths and what they refer to. */
export const preamble = (baseUrl: string) => ({
  openapi: "3.1.0",
  info: {
    title: "Leadfile",
    summary: "The identified visitors of your websites, read-only.",
    version,
    description:
      "Every request is a GET with an API key, and every response is JSON. Parameters are strict: an unknown, repeated, " +
      "empty, or malformed one is a 400 that names it. While `has_more` is true, request the next page with `before` " +
      "set to `next_cursor`. To poll, send the newest `identified_at` as `since`, and drop the lead that you have by its " +
      "`id`. Other paths return 404 `not_found`, and other methods 405 `method_not_allowed`, as described under " +
      "`components/responses`.",
    license: { name: "MIT", identifier: "MIT" },
  },
  externalDocs: {
    url: `${baseUrl}${publicPaths.docs}`,
    description: "First requests, paging, polling, and each error",
  },
  servers: [{ url: baseUrl, description: "This server" }],
  security: [{ apiKey: [] }],
  tags: [
    { name: "Leads", description: "Identified visits, newest first." },
    { name: "Pixels", description: "The sources of the visits." },
    { name: "Usage", description: "The requests of the presented key." },
  ],
  components: {
    securitySchemes: {
      apiKey: {
        type: "http" as const,
        scheme: "bearer",
        bearerFormat: "lf_ and 38 characters",
        description:
          `Created with \`${adminCommand} key create ACCOUNT\`, and shown once. A key reads all pixels of its account. ` +
          "It must never be in client-side code, a public repository, or a URL. There are no CORS headers, on purpose.",
      },
    },
  },
});

const always = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id", "Cache-Control"];

const onlyWith: Readonly<Record<number, readonly string[]>> = {
  308: ["Location"],
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  429: ["Retry-After"],
};

/** References to the headers of a response, by its status. */
export function headersOf(status: number): Record<string, { $ref: string }> {
  const names = [...always, "X-Content-Type-Options", ...(onlyWith[status] ?? [])];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Every header that a response can carry. */
export function sharedHeaders(limitPerMin: number) {
  const header = (description: string, schema: Record<string, string | number | (string | number)[]>) => ({
    description,
    required: true,
    schema,
  });
  const integer = (description: string, minimum: number, example: number) =>
    header(description, { type: "integer", minimum, examples: [example] });
  return {
    "X-RateLimit-Limit": integer("Requests per minute of a key.", 1, limitPerMin),
    "X-RateLimit-Remaining": integer(
      "Requests left in the current window, this one included. Without a live key it is the whole limit.",
      0,
      defaultLimitPerMin - 1,
    ),
    "X-RateLimit-Reset": integer("Unix second at which the window, a UTC clock minute, ends.", 0, 1_769_850_960),
    "X-Request-Id": header("Identifies this request in the server's log. A client's own is not echoed.", {
      type: "string",
      format: "uuid",
      examples: ["5b0f3a3e-2f0c-4b7e-9d55-6a1c1d6f8e21"],
    }),
    "Cache-Control": header("Responses must not be cached.", { type: "string", const: "no-store" }),
    "X-Content-Type-Options": header("The body is JSON and nothing else.", { type: "string", const: "nosniff" }),
    "Retry-After": integer("Seconds to wait before the next request.", 1, retryAfterSeconds),
    "WWW-Authenticate": header("The authentication scheme.", { type: "string", const: "Bearer" }),
    Allow: header("The one method of the API.", { type: "string", const: "GET" }),
    Location: header("The same path and query at the public address.", { type: "string", format: "uri" }),
  };
}
