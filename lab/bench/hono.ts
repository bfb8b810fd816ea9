/** What a user would pick instead of Leadfile: Hono on Bun with bun:sqlite, prepared statements, and a plain relational schema. */
import { Database, type Statement } from "bun:sqlite";
import { hash, randomUUID } from "node:crypto";
import { Hono } from "hono";
import { type ErrorCode, errorCodes } from "../../packages/client/src/errors.ts";
import { leadFields } from "../../src/contract/lead.ts";
import { cityKey } from "../../src/contract/stored-lead.ts";
import { formatTime, parseTime } from "../../src/contract/time.ts";

const database = new Database(process.env["DATABASE_PATH"] ?? "", { readwrite: true });
// NORMAL and not FULL, as most would have it: a count that a power cut takes is not worth a flush per request.
database.run("PRAGMA synchronous = NORMAL");
database.run("PRAGMA busy_timeout = 5000");
// As much of the file in memory as Leadfile keeps.
database.run(`PRAGMA cache_size = -${32 * 1024}`);

interface KeyRow {
  readonly number: number;
  readonly account: number;
  readonly revoked: number;
  readonly active: number;
}

type LeadRow = Record<(typeof leadFields)[number], string>;
type Value = string | number;

const keys = database.prepare<KeyRow, [string]>(`
  SELECT k.number, k.account, k.revoked_at IS NOT NULL AS revoked, a.active
  FROM keys k JOIN accounts a ON a.number = k.account WHERE k.digest = ?`);
const pixels = database.prepare<unknown, [number, string]>("SELECT 1 FROM pixels WHERE account = ? AND id = ?");
const usage = database.prepare<unknown, [number, string]>(`
  INSERT INTO usage (key, day, requests) VALUES (?, ?, 1)
  ON CONFLICT (key, day) DO UPDATE SET requests = requests + 1`);
/** One statement for each combination of filters. */
const pages = new Map<string, Statement<LeadRow, Value[]>>();

class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** Returns the key of a request. Throws the refusal of a key that does not exist, is revoked, or has no subscription. */
function authenticate(authorization: string | undefined): KeyRow {
  const secret = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (secret === undefined) throw new ApiError("missing_api_key", "Send Authorization: Bearer <API_KEY>.");
  const key = keys.get(hash("sha256", secret));
  if (key === null) throw new ApiError("invalid_api_key", "This API key does not exist.");
  if (key.revoked) throw new ApiError("revoked_api_key", "This API key was revoked.");
  if (!key.active) throw new ApiError("subscription_required", "The account has no active subscription.");
  return key;
}

const limit = Number(process.env["RATE_LIMIT_PER_MIN"]);
const counts = new Map<number, number>();
let window = 0;

/** Counts in the fixed window of the clock minute, and returns the headers. Throws when the limit is used up. */
function countRequest(key: number, nowMs: number): Record<string, string> {
  const now = Math.floor(nowMs / 60_000);
  if (now !== window) counts.clear();
  window = now;
  const used = (counts.get(key) ?? 0) + 1;
  if (used > limit) throw new ApiError("rate_limit_exceeded", "The limit of this minute is used up.");
  counts.set(key, used);
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(limit - used),
    "X-RateLimit-Reset": String((now + 1) * 60),
    "X-Request-Id": randomUUID(),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
}

/** Returns a bound in the form of stored times, rounded up to a millisecond; null for any other text. */
function readBound(text: string): string | null {
  const ms = parseTime(text, "up");
  return ms === null ? null : formatTime(ms);
}

/** A filter: its condition, and the value to bind. A value of null is malformed, and an empty condition filters nothing. */
const filters: Readonly<Record<string, (text: string) => readonly [condition: string, value: string | null]>> = {
  limit: (text) => ["", /^([1-9]\d?|100)$/.test(text) ? text : null],
  before: (text) => ["identified_at < ?", readBound(text)],
  since: (text) => ["identified_at >= ?", readBound(text)],
  pixel_id: (text) => ["pixel_id = ?", text === "" ? null : text],
  state: (text) => ["state = ?", /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : null],
  city: (text) => ["city_key = ?", cityKey(text) || null],
  has_email: (text) => [
    text === "true" ? "email IS NOT NULL AND ? = 'true'" : "",
    /^(true|false)$/.test(text) ? text : null,
  ],
};

/** Reads a parameter. Throws an error that names one that is unknown, repeated, or malformed. */
function readParameter(account: number, name: string, [text = "", ...more]: readonly string[]) {
  const read = filters[name];
  const [condition, value] = read === undefined || more.length > 0 ? ["", null] : read(text);
  if (value === null) {
    const code = name === "before" ? "invalid_cursor" : "invalid_parameter";
    throw new ApiError(code, `The parameter ${name} is unknown, repeated or malformed.`);
  }
  if (name === "pixel_id" && pixels.get(account, value) === null) {
    throw new ApiError("unknown_pixel", "The account has no pixel with this id.");
  }
  return { condition, value };
}

function readPage(account: number, sent: Record<string, string[]>) {
  const parameters = Object.entries(sent).map(([name, values]) => readParameter(account, name, values));
  const chosen = parameters.filter(({ condition }) => condition !== "");
  const conditions = ["account = ?", ...chosen.map(({ condition }) => condition)];
  const bound: Value[] = [account, ...chosen.map(({ value }) => value)];
  const size = Number(sent["limit"]?.[0] ?? 25);
  const where = conditions.join(" AND ");
  const text = `SELECT ${leadFields.join(", ")} FROM leads WHERE ${where} ORDER BY identified_at DESC LIMIT ?`;
  let statement = pages.get(text);
  if (statement === undefined) pages.set(text, (statement = database.prepare(text)));
  const data = statement.all(...bound, size + 1);
  const hasMore = data.length > size;
  if (hasMore) data.pop();
  return { object: "list", data, has_more: hasMore, next_cursor: hasMore ? data.at(-1)?.identified_at : null };
}

const app = new Hono<{ Variables: { key: KeyRow } }>();

app.use("/api/*", async (context, next) => {
  const key = authenticate(context.req.header("authorization"));
  const now = Date.now();
  for (const [name, value] of Object.entries(countRequest(key.number, now))) context.header(name, value);
  usage.run(key.number, new Date(now).toISOString().slice(0, 10));
  context.set("key", key);
  await next();
});
app.get("/api/v1/leads", (context) => context.json(readPage(context.get("key").account, context.req.queries())));
app.onError((error, context) => {
  const { code, message } = error instanceof ApiError ? error : new ApiError("internal_error", "The server failed.");
  const body = JSON.stringify({ error: { code, message, docs: `http://127.0.0.1/docs#${code}` } });
  const [status] = errorCodes[code];
  return context.newResponse(body, status as 400, { "Content-Type": "application/json" }); // Hono's type lists statuses.
});

const { url } = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: app.fetch });
process.stdout.write(`listening on ${url.origin}\n`);
