/** The description of the API (OpenAPI 3.1), made once from the contract. */
import type { TSchema } from "@sinclair/typebox";
import { version } from "../../package.json";
import { ErrorBody, type ErrorCode, errorCodes, errors } from "../contract/errors.ts";
import { Lead } from "../contract/lead.ts";
import { defaultLimitPerMin, paths, retryAfterSeconds } from "../contract/limits.ts";
import { LeadList, PixelList } from "../contract/list.ts";
import { leadParameters } from "../contract/parameters.ts";
import { Pixel } from "../contract/pixel.ts";
import { Usage } from "../contract/usage.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const refuseAll: ErrorCode[] = [
  "missing_api_key",
  "invalid_api_key",
  "revoked_api_key",
  "subscription_required",
  "rate_limit_exceeded",
  "internal_error",
  "query_failed",
];

/** The document for a server with this public origin and limit. */
export function openApiDocument(baseUrl: string, limitPerMin: number) {
  return {
    openapi: "3.1.0",
    info: {
      title: "Leadfile",
      version,
      description: "The identified visitors of your websites, read-only. Every request carries an API key.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    paths: {
      [paths.leads]: {
        get: {
          operationId: "listLeads",
          summary: "The identified visitors across all pixels of the account, newest first.",
          parameters: Object.entries(leadParameters).map(([name, { schema }]) => {
            const { description, ...rest } = toJson(schema) as { description: string };
            return { name, in: "query", required: false, description, schema: rest };
          }),
          responses: responses(LeadList, [...refuseAll, "invalid_parameter", "invalid_cursor", "unknown_pixel"]),
        },
      },
      [paths.pixels]: {
        get: {
          operationId: "listPixels",
          summary: "The pixels of the account, in the order in which they were created.",
          responses: responses(PixelList, [...refuseAll, "invalid_parameter"]),
        },
      },
      [paths.usage]: {
        get: {
          operationId: "getUsage",
          summary: "Request counts of the presented key; this call counts as well.",
          responses: responses(Usage, [...refuseAll, "invalid_parameter"]),
        },
      },
    },
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer" } },
      headers: rateHeaders(limitPerMin),
      schemas: Object.fromEntries(
        [Lead, LeadList, Pixel, PixelList, Usage, ErrorBody].map((schema) => [nameOf(schema), toJson(schema)]),
      ),
    },
    // The type of the plugin is that of OpenAPI 3.0; what is served is this document as it stands.
  } as unknown as NonNullable<Parameters<typeof import("@elysiajs/swagger").swagger>[0]>["documentation"] & object;
}

function responses(success: TSchema, codes: ErrorCode[]): Json {
  const byStatus = Map.groupBy(
    errorCodes.filter((code) => codes.includes(code)),
    (code) => errors[code].status,
  );
  const failures = [...byStatus].map(([status, those]): [string, Json] => [
    String(status),
    {
      description: those.map((code) => `\`${code}\`: ${errors[code].condition}`).join("\n\n"),
      headers: headersOf(status),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    },
  ]);
  const ok = {
    description: "Done.",
    headers: headersOf(200),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${nameOf(success)}` } } },
  };
  return Object.fromEntries([["200", ok], ...failures]);
}

const always = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"];

function headersOf(status: number): Json {
  const names = [...always];
  if (status === 429) names.push("Retry-After");
  if (status === 401) names.push("WWW-Authenticate");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function rateHeaders(limitPerMin: number): Json {
  const integer = (description: string, example: number) => ({
    description,
    required: true,
    schema: { type: "integer", examples: [example] },
  });
  return {
    "X-RateLimit-Limit": integer("Requests per minute of a key.", limitPerMin),
    "X-RateLimit-Remaining": integer("Requests left in the current window, this one counted.", defaultLimitPerMin - 1),
    "X-RateLimit-Reset": integer("Unix second at which the window ends.", 1_769_850_900),
    "X-Request-Id": { description: "Names this request in the log.", required: true, schema: { type: "string" } },
    "Retry-After": integer("Seconds to wait.", retryAfterSeconds),
    "WWW-Authenticate": { description: "The scheme to use.", required: true, schema: { const: "Bearer" } },
  };
}

function nameOf(schema: TSchema): string {
  if (schema.$id === undefined) throw new Error("a component of the description needs a name");
  return schema.$id;
}

/** A schema as plain JSON, in which the named schemas inside it are references. */
function toJson(schema: TSchema): Json {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (key === "$id") return undefined;
      const named = key !== "" && typeof value === "object" && value !== null && typeof value.$id === "string";
      return named ? { $ref: `#/components/schemas/${value.$id}` } : value;
    }),
  );
}
