/** The gate (§5, §8): which key a request presents, whether it has requests left, and whether it may pass. */
import { ApiError } from "../contract/errors.ts";
import { digestOf, isWellFormed } from "../contract/key.ts";
import { paths } from "../contract/limits.ts";
import type { Limiter } from "../limiter.ts";
import type { KnownKey, ReadStore } from "../store/reading.ts";
import type { RequestStore } from "../store/serving.ts";
import type { UsageCounter } from "../store/usage.ts";
import type { Visit } from "./context.ts";

export interface GateParts {
  readonly limiter: Limiter;
  readonly store: RequestStore;
}

/** What the Authorization header holds: no key at all, one that nobody has, or a key that was made here. */
export type Presented = "missing" | "unknown" | KnownKey;

const endpoints: ReadonlySet<string> = new Set(Object.values(paths));

/** Reads the header Authorization: Bearer <API_KEY>. */
export function present(authorization: string | null, store: ReadStore): Presented {
  const secret = /^bearer +(\S.*)$/i.exec(authorization ?? "")?.[1];
  if (secret === undefined) return "missing";
  // The checksum settles a typing error or a guess without asking the store.
  if (!isWellFormed(secret)) return "unknown";
  // What other programs have written until now holds for the whole request: a revocation, too (§5).
  store.refresh();
  return store.keys.find(digestOf(secret)) ?? "unknown";
}

/**
 * Lets a request of the API pass, or throws its refusal: over the limit, unknown path, method, key, subscription, in
 * this order. A request with a live key counts once, whatever becomes of it; one over the limit counts nowhere.
 */
export function passGate(visit: Visit, { limiter, store }: GateParts): void {
  const presented = present(visit.request.headers.get("authorization"), store);
  if (isLive(presented, visit.arrivedMs)) count(visit, presented, limiter, store.usage);
  if (!endpoints.has(visit.path)) {
    throw new ApiError("not_found", `There is no endpoint here; the endpoints are ${[...endpoints].join(", ")}.`);
  }
  if (visit.request.method !== "GET") {
    throw new ApiError("method_not_allowed", "This API is read-only; the only method is GET.");
  }
  if (presented === "missing") {
    throw new ApiError("missing_api_key", "No API key was sent; send the header Authorization: Bearer <API_KEY>.");
  }
  if (presented === "unknown") throw new ApiError("invalid_api_key", "This API key does not exist.");
  if (!isLive(presented, visit.arrivedMs)) throw new ApiError("revoked_api_key", "This API key was revoked.");
  if (!presented.subscribed) {
    throw new ApiError("subscription_required", "The account of this API key has no active subscription.");
  }
}

/** Whether a key was made here, is not revoked, and has not expired by a moment. */
export function isLive(presented: Presented, nowMs: number): presented is KnownKey {
  return typeof presented === "object" && !presented.revoked && nowMs < presented.expiresMs;
}

function count(visit: Visit, key: KnownKey, limiter: Limiter, usage: UsageCounter): void {
  visit.key = key;
  const verdict = limiter.hit(key.number, visit.arrivedMs, visit.startedNs / 1e6);
  visit.remaining = verdict.remaining;
  if (!verdict.allowed) {
    throw new ApiError(
      "rate_limit_exceeded",
      `The limit of ${limiter.limit} requests a minute is used up; wait for the next minute.`,
    );
  }
  usage.count(key.number, visit.arrivedMs);
}
