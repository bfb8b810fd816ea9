/** The parts that every peer needs: keys, limiter, headers, and errors. */
import { hash, randomUUID } from "node:crypto";
import { statusOf } from "../../../packages/conformance/src/specification.ts";

/** Rows of the relational file, as the drivers give them. */
export interface KeyRow {
  readonly number: number;
  readonly account: number;
  readonly revoked: number;
  readonly active: number;
}

export const statements = {
  key: `SELECT k.number, k.account, k.revoked_at IS NOT NULL AS revoked, a.active
    FROM keys k JOIN accounts a ON a.number = k.account WHERE k.digest = ?`,
  pixel: "SELECT 1 FROM pixels WHERE account = ? AND id = ?",
  usage: `INSERT INTO usage (key, day, requests) VALUES (?, ?, 1)
    ON CONFLICT (key, day) DO UPDATE SET requests = requests + 1`,
  // NORMAL and not FULL, as most would have it: a count that a power cut takes is not worth a flush per request.
  // As much of the file in memory as Leadfile keeps.
  pragmas: [
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA busy_timeout = 5000",
    `PRAGMA cache_size = -${32 * 1024}`,
  ],
} as const;

export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }

  get status(): number {
    return statusOf[this.code] ?? 500;
  }

  get body() {
    return { error: { code: this.code, message: this.message, docs: `http://127.0.0.1/docs#${this.code}` } };
  }
}

/** The digest under which a presented key is stored; throws missing_api_key when none was presented. */
export function digestOf(authorization: string | null | undefined): string {
  const secret = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (secret === undefined) throw new ApiError("missing_api_key", "Send Authorization: Bearer <API_KEY>.");
  return hash("sha256", secret);
}

/** Throws the refusal of a key that does not exist, is revoked, or whose account has no subscription. */
export function admit(key: KeyRow | null | undefined): KeyRow {
  if (key === null || key === undefined) throw new ApiError("invalid_api_key", "This API key does not exist.");
  if (key.revoked) throw new ApiError("revoked_api_key", "This API key was revoked.");
  if (!key.active) throw new ApiError("subscription_required", "The account has no active subscription.");
  return key;
}

/** Counts in the fixed window of the clock minute and gives the headers; throws when the limit is used up. */
export function createLimiter(limit: number) {
  const counts = new Map<number, number>();
  let window = 0;
  return (key: number, nowMs: number): Record<string, string> => {
    const now = Math.floor(nowMs / 60_000);
    if (now !== window) {
      counts.clear();
      window = now;
    }
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
  };
}
