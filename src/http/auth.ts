/** The gate (§5, §8): which key a request presents, whether it has requests left, and whether it may pass. */
import { ApiError, errors, plainError } from "../contract/errors.ts";
import { digestOf, isWellFormed } from "../contract/key.ts";
import { paths } from "../contract/paths.ts";
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
    throw plainError("not_found");
  }
  if (visit.request.method !== "GET") {
    throw plainError("method_not_allowed");
  }
  if (presented === "missing") {
    throw plainError("missing_api_key");
  }
  if (presented === "unknown") throw plainError("invalid_api_key");
  if (!isLive(presented, visit.arrivedMs)) throw plainError("revoked_api_key");
  if (!presented.subscribed) {
    throw plainError("subscription_required");
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
    throw new ApiError("rate_limit_exceeded", errors.rate_limit_exceeded.message(limiter.limit));
  }
  usage.count(key.number, visit.arrivedMs);
}
