/** The description of the API (OpenAPI 3.1), made once from the contract. */
import { version } from "../../../package.json";
import { type ErrorCode, errors } from "../../contract/errors.ts";
import { pageSize } from "../../contract/limits.ts";
import { LeadList, PixelList } from "../../contract/list.ts";
import { leadParameters } from "../../contract/parameters.ts";
import { paths, publicPaths } from "../../contract/paths.ts";
import { Usage } from "../../contract/usage.ts";
import { type ExampleSettings, responsesOf, sharedHeaders, sharedResponses } from "./openapi-responses.ts";
import { type Json, sharedSchemas, toJson } from "./openapi-schemas.ts";

/** All of the description but its operations, which the routes carry. */
export function describeApi(baseUrl: string, limitPerMin: number, adminCommand: string): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Leadfile",
      summary: "The identified visitors of your websites, read-only.",
      version,
      description: description(limitPerMin),
      license: { name: "MIT", identifier: "MIT" },
    },
    externalDocs: {
      url: `${baseUrl}${publicPaths.docs}`,
      description: "First requests, paging, polling, and a section per error",
    },
    servers: [{ url: baseUrl, description: "This server" }],
    security: [{ apiKey: [] }],
    tags: [
      { name: "Leads", description: "Identified visits, newest first." },
      { name: "Pixels", description: "What captures the visits." },
      { name: "Usage", description: "What the presented key has used." },
    ],
    components: {
      securitySchemes: { apiKey: apiKey(adminCommand) },
      headers: sharedHeaders(limitPerMin),
      responses: sharedResponses({ baseUrl, limitPerMin }),
      schemas: sharedSchemas(),
    },
  };
}

const apiKey = (adminCommand: string) => ({
  type: "http",
  scheme: "bearer",
  bearerFormat: "lf_ and 38 characters",
  description:
    `Made with \`${adminCommand} key create ACCOUNT\`, shown once. A key reads all pixels of its account. It must never be ` +
    "in a page's code, a public repository or a URL; there are no CORS headers, on purpose.",
});

function description(limitPerMin: number): string {
  return `Leads are the identified visits of an account's websites. Every request is a GET with an API key, every answer JSON.

**Paging.** While \`has_more\` is true, ask again with \`before\` set to \`next_cursor\`. Every lead of an account has a
millisecond of its own, so none is skipped and none comes twice, whatever is imported meanwhile.

**Polling.** Read all pages, then keep the newest \`identified_at\` and send it as \`since\`. It is inclusive: drop what you
have by its \`id\`. Where sources deliver late, look back by an overlap. Only a full walk shows what was
changed or erased.

**Limits.** ${limitPerMin} requests per key and UTC clock minute. Every request with a live key counts, whatever the answer;
a 429 does not. After one, wait for \`Retry-After\`.

**Parameters** are strict: each at most once, and an unknown, empty or malformed one is a 400 that names it. Nothing is
clamped.

**Other paths** answer 404 \`not_found\`, **other methods** than GET 405 \`method_not_allowed\`, both as described under
\`components/responses\`.`;
}

/** The operations, each for its route: parameters and answers from the schemas of the contract. */
export function describeOperations(baseUrl: string, limitPerMin: number): Record<keyof typeof paths, object> {
  const settings: ExampleSettings = { baseUrl, limitPerMin };
  return {
    leads: {
      operationId: "listLeads",
      tags: ["Leads"],
      summary: "List leads, newest first",
      description: `The identified visitors across all pixels of the account, ordered by \`identified_at\` descending: a page of ${pageSize.usual}, or of \`limit\`. A \`before\` at or below \`since\`, and a state or city that matches nothing, give an empty page and no error.`,
      parameters: parameters(),
      responses: responsesOf(LeadList, "A page of leads.", ["unknown_pixel"], settings),
    },
    pixels: {
      operationId: "listPixels",
      tags: ["Pixels"],
      summary: "List pixels",
      description: `The pixels of the account, in the order in which they were created. Their ids are the values of \`pixel_id\` on GET ${paths.leads}. Takes no parameters.`,
      responses: responsesOf(PixelList, "All pixels of the account.", [], settings),
    },
    usage: {
      operationId: "getUsage",
      tags: ["Usage"],
      summary: "Count the requests of this key",
      description:
        "What the presented key has used in the current UTC day and month, this call included. Takes no parameters.",
      responses: responsesOf(Usage, "The counts of the presented key.", [], settings),
    },
  };
}

/** Two parameters have a code of their own (§7). */
const codeOf: Readonly<Record<string, ErrorCode>> = { before: "invalid_cursor", pixel_id: "unknown_pixel" };

function parameters(): Json {
  return Object.entries(leadParameters).map(([name, { schema, accepts }]) => {
    const { description: what, ...rest } = toJson(schema);
    const code = codeOf[name] ?? "invalid_parameter";
    const refusal = `Anything else is ${errors[code].status} \`${code}\`.`;
    return { name, in: "query", required: false, description: `${what} Takes ${accepts}. ${refusal}`, schema: rest };
  });
}
