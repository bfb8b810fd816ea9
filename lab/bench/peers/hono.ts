/** Hono on Bun with bun:sqlite: prepared statements, rows as objects. */
import { Database, type Statement } from "bun:sqlite";
import { Hono } from "hono";
import { ApiError, admit, createLimiter, digestOf, type KeyRow, statements } from "./contract.ts";
import { invalid, type LeadRow, pageStatement, patterns, type RawQuery, toLeadQuery, toList } from "./query.ts";
import { announce, databasePath, limitPerMin } from "./settings.ts";

const database = new Database(databasePath, { readwrite: true });
for (const pragma of statements.pragmas) database.run(pragma);
const keys = database.prepare<KeyRow, [string]>(statements.key);
const pixels = database.prepare<unknown, [number, string]>(statements.pixel);
const usage = database.prepare<unknown, [number, string]>(statements.usage);
const pages = new Map<string, Statement<LeadRow, (string | number)[]>>();
const limiter = createLimiter(limitPerMin);

const forms: Record<keyof RawQuery, RegExp> = {
  limit: new RegExp(patterns.limit),
  before: /./,
  since: /./,
  pixel_id: /./,
  state: new RegExp(patterns.state),
  city: /./,
  has_email: new RegExp(patterns.hasEmail),
};

function readQuery(sent: Record<string, string[]>): RawQuery {
  const raw: RawQuery = {};
  for (const [name, values] of Object.entries(sent)) {
    const known = name as keyof RawQuery; // What is not known has no form.
    const [value = ""] = values;
    if (values.length !== 1 || !forms[known]?.test(value)) throw invalid(name);
    raw[known] = value;
  }
  return raw;
}

function readPage(account: number, raw: RawQuery) {
  const query = toLeadQuery(raw);
  if (query.pixel !== null && pixels.get(account, query.pixel) === null) {
    throw new ApiError("unknown_pixel", "The account has no pixel with this id.");
  }
  const { text, values } = pageStatement(account, query);
  let statement = pages.get(text);
  if (statement === undefined) pages.set(text, (statement = database.prepare(text)));
  return toList(statement.all(...values), query.limit);
}

const app = new Hono<{ Variables: { key: KeyRow } }>();

app.use("/api/*", async (context, next) => {
  const key = admit(keys.get(digestOf(context.req.header("authorization"))));
  const now = Date.now();
  for (const [name, value] of Object.entries(limiter(key.number, now))) context.header(name, value);
  usage.run(key.number, new Date(now).toISOString().slice(0, 10));
  context.set("key", key);
  await next();
});
app.get("/api/v1/leads", (context) =>
  context.json(readPage(context.get("key").account, readQuery(context.req.queries()))),
);
app.notFound((context) => context.json(new ApiError("not_found", "There is no endpoint here.").body, 404));
app.onError((error, context) => {
  const known = error instanceof ApiError ? error : new ApiError("internal_error", "The server failed.");
  return context.newResponse(JSON.stringify(known.body), known.status as 400, { "Content-Type": "application/json" });
});

announce(Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: app.fetch }).port);
