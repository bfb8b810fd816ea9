/** Fastify on Node with better-sqlite3: validation and serialisation by schema. The bench translates it for Node. */
import Sqlite, { type Statement } from "better-sqlite3";
import fastify from "fastify";
import { leadFields } from "../../../packages/conformance/src/specification.ts";
import { ApiError, admit, createLimiter, digestOf, type KeyRow, statements } from "./contract.ts";
import { invalid, type LeadRow, pageStatement, patterns, type RawQuery, toLeadQuery, toList } from "./query.ts";
import { announce, databasePath, limitPerMin } from "./settings.ts";

const database = new Sqlite(databasePath);
for (const pragma of statements.pragmas) database.exec(pragma);
const keys = database.prepare<[string], KeyRow>(statements.key);
const pixels = database.prepare<[number, string], unknown>(statements.pixel);
const usage = database.prepare<[number, string]>(statements.usage);
const pages = new Map<string, Statement<(string | number)[], LeadRow>>();
const limiter = createLimiter(limitPerMin);

const text = { type: "string", minLength: 1 };
const querystring = {
  type: "object",
  additionalProperties: false,
  properties: {
    limit: { type: "string", pattern: patterns.limit },
    before: text,
    since: text,
    pixel_id: text,
    state: { type: "string", pattern: patterns.state },
    city: text,
    has_email: { type: "string", pattern: patterns.hasEmail },
  },
};
const nullable = { type: ["string", "null"] };
const list = {
  type: "object",
  required: ["object", "data", "has_more", "next_cursor"],
  properties: {
    object: { type: "string" },
    data: {
      type: "array",
      items: {
        type: "object",
        required: leadFields,
        properties: Object.fromEntries(leadFields.map((field) => [field, nullable])),
      },
    },
    has_more: { type: "boolean" },
    next_cursor: nullable,
  },
};

function readPage(account: number, raw: RawQuery) {
  const query = toLeadQuery(raw);
  if (query.pixel !== null && pixels.get(account, query.pixel) === undefined) {
    throw new ApiError("unknown_pixel", "The account has no pixel with this id.");
  }
  const { text, values } = pageStatement(account, query);
  let statement = pages.get(text);
  if (statement === undefined) pages.set(text, (statement = database.prepare(text)));
  return toList(statement.all(...values), query.limit);
}

const app = fastify({ logger: false, ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });
app.decorateRequest("account", 0);

app.addHook("onRequest", (request, reply, done) => {
  const key = admit(keys.get(digestOf(request.headers.authorization)));
  const now = Date.now();
  reply.headers(limiter(key.number, now));
  usage.run(key.number, new Date(now).toISOString().slice(0, 10));
  request.setDecorator("account", key.account);
  done();
});
app.get<{ Querystring: RawQuery }>("/api/v1/leads", {
  schema: { querystring, response: { 200: list } },
  handler: (request, reply) => {
    reply.send(readPage(request.getDecorator<number>("account"), request.query));
  },
});
app.setNotFoundHandler((_, reply) => {
  reply.status(404).send(new ApiError("not_found", "There is no endpoint here.").body);
});
app.setErrorHandler((error, _, reply) => {
  const known = toApiError(error);
  reply.status(known.status).send(known.body);
});

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const [first] = error instanceof Error && "validation" in error ? (error.validation as Violation[]) : [];
  if (first === undefined) return new ApiError("internal_error", "The server failed.");
  return invalid(first.params?.additionalProperty ?? first.instancePath.slice(1));
}

/** A validation error of Ajv. */
interface Violation {
  readonly instancePath: string;
  readonly params?: { readonly additionalProperty?: string };
}

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
announce(typeof address === "object" ? address?.port : undefined);
