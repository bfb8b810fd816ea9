/** The description at /openapi.json: what @elysiajs/swagger derives from the routes, completed to valid OpenAPI 3.1. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { version } from "../../../package.json";
import { type ErrorCode, errorBody, errorCodes, errors, invalidValue, plainError } from "../../contract/errors.ts";
import { retryAfterSeconds } from "../../contract/limits.ts";
import { LeadParameters } from "../../contract/parameters.ts";
import { publicPaths } from "../../contract/paths.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import { requestContext } from "../request-context.ts";

/** Makes the route of the description. */
export function describeApi(baseUrl: string, limitPerMin: number) {
  let description: string | null = null;
  const headers = { "Content-Type": "application/json", "Cache-Control": "no-cache" };
  return (
    new Elysia()
      .use(requestContext)
      .onAfterHandle(({ context, response }) => {
        if (response instanceof Response) return response;
        description ??= completed(JSON.stringify(response), baseUrl, limitPerMin);
        return context.respond({ status: 200, body: description, headers });
      })
      // The plugin's page loads from another host. Our explorer takes its path: the last route of a path wins.
      .use(
        swagger({
          path: publicPaths.explorer,
          specPath: publicPaths.openapi,
          documentation: documentation(baseUrl, limitPerMin),
        }),
      )
  );
}

/** Everything that the routes do not say. */
const documentation = (baseUrl: string, limitPerMin: number) => ({
  openapi: "3.1.0",
  info: {
    title: "Leadfile",
    summary: "The identified visitors of your websites, read-only.",
    version,
    description:
      "Every request is a GET with an API key, and every response is JSON. Parameters are strict: an unknown, repeated, " +
      "empty, or malformed one is a 400 that names it. While `has_more` is true, request the next page with `before` " +
      "set to `next_cursor`. To poll, send the newest `identified_at` as `since`, and drop the lead that you have by its " +
      "`id`. Other paths return 404 `not_found`, and other methods 405 `method_not_allowed`, as `ErrorResponse` with the " +
      "headers of the other errors. `error.code` is open: a later version may add codes.",
    contact: { name: "The owner of this server", url: `${baseUrl}${publicPaths.docs}` },
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
    headers: headersOfOperations(limitPerMin),
  },
});

/** Returns the headers of all operations, none of which answers 405. */
function headersOfOperations(limitPerMin: number) {
  const { Allow: _, ...headers } = responseHeaders(limitPerMin);
  return headers;
}

/** Returns every header that a response can carry. */
export function responseHeaders(limitPerMin: number) {
  const integer = (description: string, minimum: number, example: number) => ({
    description,
    required: true,
    schema: { type: "integer" as const, minimum, examples: [example] },
  });
  const text = (description: string, schema: Readonly<Record<string, string | string[]>>) => ({
    description,
    required: true,
    schema: { type: "string" as const, ...schema },
  });
  return {
    "X-RateLimit-Limit": integer("Requests per minute of a key.", 1, limitPerMin),
    "X-RateLimit-Remaining": integer(
      "Requests left in the current window, this one included. Without a live key it is the whole limit.",
      0,
      limitPerMin - 1,
    ),
    "X-RateLimit-Reset": integer("Unix second at which the window, a UTC clock minute, ends.", 0, 1_769_850_960),
    "X-Request-Id": text("Identifies this request in the server's log. A client's own is not echoed.", {
      format: "uuid",
      examples: ["5b0f3a3e-2f0c-4b7e-9d55-6a1c1d6f8e21"],
    }),
    "Cache-Control": text("Responses must not be cached.", { const: "no-store" }),
    "X-Content-Type-Options": text("The body is JSON and nothing else.", { const: "nosniff" }),
    "Retry-After": integer("Seconds to wait before the next request.", 1, retryAfterSeconds),
    "WWW-Authenticate": text("The authentication scheme.", { const: "Bearer" }),
    Allow: text("The one method of the API.", { const: "GET" }),
    Location: text("The same path and query at the public address.", { format: "uri" }),
  };
}

/** The headers that only responses of one status have. */
const statusOfHeader: Readonly<Record<string, number>> = {
  Location: 308,
  "WWW-Authenticate": 401,
  Allow: 405,
  "Retry-After": 429,
};

/** Returns the error of a code. For a 400, it is one of several. */
function exampleOf(code: ErrorCode) {
  const { limit, before } = LeadParameters.properties;
  if (code === "invalid_parameter") return invalidValue("limit", 1000, String(limit["error"]));
  if (code === "invalid_cursor") return invalidValue("before", "yesterday", String(before["error"]));
  return plainError(code);
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Completes the text of the derived document: named schemas, responses with headers and examples, and parameters. */
function completed(derived: string, baseUrl: string, limitPerMin: number): string {
  const schemas: Record<string, object> = {};
  const names = Object.keys(responseHeaders(limitPerMin));
  const reference = (group: string, name: string) => ({ $ref: `#/components/${group}/${name}` });

  function response(status: number, schema: string, described: Json | undefined, codes: readonly ErrorCode[]) {
    const failures = codes.map((code) => {
      return [code, { summary: errors[code].condition, value: errorBody(exampleOf(code), baseUrl) }];
    });
    const carried = names.filter((name) => (statusOfHeader[name] ?? status) === status);
    return {
      description: described ?? codes.map((code) => `\`${code}\`: ${errors[code].condition}`).join("\n\n"),
      headers: Object.fromEntries(carried.map((name) => [name, reference("headers", name)])),
      content: {
        "application/json": {
          schema: reference("schemas", schema),
          examples: Object.fromEntries(failures),
        },
      },
    };
  }

  // JSON.parse knows no types. Of the document that the plugin derives, only the components are changed here.
  const document: { readonly components: Record<string, object> } = JSON.parse(derived, (key, value: Json) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const { $id, content, in: location, "x-examples": examples, ...rest } = flatten(value);
    if (location === "query") return { in: location, ...completeParameter(rest) };
    if (examples !== undefined) return withExamples(rest, examples);
    if (typeof $id !== "string") return { ...rest, content };
    if (content === undefined) {
      schemas[$id] = rest;
      return reference("schemas", $id);
    }
    // Elysia gives each response of a schema this one content type.
    schemas[$id] = (content as { "application/json": { schema: object } })["application/json"].schema;
    const codes = errorCodes.filter((code) => errors[code].status === Number(key) && code !== "not_found");
    return response(Number(key), $id, rest["description"], codes);
  });
  document.components["schemas"] = schemas;
  return JSON.stringify(document);
}

/** Moves the examples of a route to its 200 response, where OpenAPI expects them. */
function withExamples(operation: { [name: string]: Json }, examples: Json): object {
  // Every route with examples has a 200 response.
  const { responses } = operation as unknown as { responses: { 200: { content: { "application/json": object } } } };
  Object.assign(responses[200].content["application/json"], { examples });
  return operation;
}

/** Parameters have their examples in the schema, and say which error an invalid value causes. */
function completeParameter({ name, description, examples, schema, ...rest }: { [name: string]: Json }): object {
  const { error, ...accepted } = schema as { [name: string]: Json }; // Every parameter has a schema.
  const code = name === "before" ? "invalid_cursor" : name === "pixel_id" ? "unknown_pixel" : "invalid_parameter";
  const says = `${description} Takes ${error}. Anything else is ${errors[code].status} \`${code}\`.`;
  return { name, ...rest, description: says, schema: { ...accepted, examples } };
}

/** Writes a union as generators of clients know it best: as a list of types, or with `enum`. */
function flatten({ anyOf, ...rest }: { [name: string]: Json }): { [name: string]: Json } {
  if (!Array.isArray(anyOf)) return rest;
  const options = anyOf as { type: string; const?: Json }[]; // Unions of the contract are of types or of constants.
  const types = options.map(({ type }) => type);
  if (types.every((type) => type === "boolean")) return { ...rest, type: "boolean" };
  if (types.includes("null")) return { ...options[0], ...rest, type: types };
  return { ...rest, type: types[0] ?? null, enum: options.map((constant) => constant.const ?? null) };
}
