/** Elysia with a query that Drizzle builds for each request, and a response that is validated. */
import { Database } from "bun:sqlite";
import { and, desc, eq, gte, isNotNull, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { Elysia } from "elysia";
import { ApiError, admit, createLimiter, digestOf, statements } from "./contract.ts";
import { query, response } from "./elysia-schemas.ts";
import { accountColumn, accounts, cityKeyColumn, columns, keys, leads, pixels, usage } from "./elysia-tables.ts";
import { invalid, type LeadQuery, toLeadQuery, toList } from "./query.ts";
import { announce, databasePath, limitPerMin } from "./settings.ts";

const client = new Database(databasePath, { readwrite: true });
for (const pragma of statements.pragmas) client.run(pragma);
const database = drizzle({ client });
const limiter = createLimiter(limitPerMin);

const keyByDigest = database
  .select({
    number: keys.number,
    account: keys.account,
    revoked: sql<number>`${keys.revoked_at} IS NOT NULL`,
    active: accounts.active,
  })
  .from(keys)
  .innerJoin(accounts, eq(accounts.number, keys.account))
  .where(eq(keys.digest, sql.placeholder("digest")))
  .prepare();
const countUsage = database
  .insert(usage)
  .values({ key: sql.placeholder("key"), day: sql.placeholder("day"), requests: 1 })
  .onConflictDoUpdate({ target: [usage.key, usage.day], set: { requests: sql`${usage.requests} + 1` } })
  .prepare();

function hasPixel(account: number, id: string): boolean {
  const own = and(eq(pixels.account, account), eq(pixels.id, id));
  return database.select({ id: pixels.id }).from(pixels).where(own).get() !== undefined;
}

function readPage(account: number, query: LeadQuery) {
  if (query.pixel !== null && !hasPixel(account, query.pixel)) {
    throw new ApiError("unknown_pixel", "The account has no pixel with this id.");
  }
  const conditions = [
    eq(accountColumn, account),
    query.before === null ? undefined : lt(columns.identified_at, query.before),
    query.since === null ? undefined : gte(columns.identified_at, query.since),
    query.pixel === null ? undefined : eq(columns.pixel_id, query.pixel),
    query.state === null ? undefined : eq(columns.state, query.state),
    query.city === null ? undefined : eq(cityKeyColumn, query.city),
    query.hasEmail ? isNotNull(columns.email) : undefined,
  ];
  const order = desc(columns.identified_at);
  const page = database
    .select(columns)
    .from(leads)
    .where(and(...conditions));
  return toList(
    page
      .orderBy(order)
      .limit(query.limit + 1)
      .all(),
    query.limit,
  );
}

/** Elysia joins what is repeated before it validates, so it is looked for in the address. */
function refuseRepeated(url: string): void {
  const question = url.indexOf("?");
  if (question === -1) return;
  const names = url
    .slice(question + 1)
    .split("&")
    .map((pair) => pair.split("=", 1)[0] ?? "");
  const repeated = names.find((name, place) => names.indexOf(name) !== place);
  if (repeated !== undefined) throw invalid(repeated);
}

// What is unknown is refused, not removed.
const app = new Elysia({ normalize: false })
  .onError(({ error, code, set }) => {
    const known = error instanceof ApiError ? error : translate(code, error);
    set.status = known.status;
    return known.body;
  })
  .derive(({ headers, set, request }) => {
    const key = admit(keyByDigest.get({ digest: digestOf(headers["authorization"]) }));
    const now = Date.now();
    Object.assign(set.headers, limiter(key.number, now));
    countUsage.run({ key: key.number, day: new Date(now).toISOString().slice(0, 10) });
    refuseRepeated(request.url);
    return { key };
  })
  .get("/api/v1/leads", ({ key, query }) => readPage(key.account, toLeadQuery(query)), { query, response });

function translate(code: unknown, error: unknown): ApiError {
  if (code === "NOT_FOUND") return new ApiError("not_found", "There is no endpoint here.");
  if (code !== "VALIDATION" || !(error instanceof Error)) return new ApiError("internal_error", "The server failed.");
  const [first] = "all" in error ? (error.all as { path?: string }[]) : []; // The list of Elysia's validation.
  return invalid(first?.path?.slice(1) ?? "query");
}

app.listen({ hostname: "127.0.0.1", port: 0 });
announce(app.server?.port);
