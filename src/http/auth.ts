/** Who asks (§5), and whether requests are left (§8): the credential of a request, and whether it may pass. */
import { ApiError, errors, plainError } from "../contract/errors.ts";
import { digestOf, isWellFormed } from "../contract/key.ts";
import { paths } from "../contract/paths.ts";
import type { Limiter } from "../limiter.ts";
import type { KnownKey, ReadStore } from "../store/reading.ts";
import type { UsageCounter } from "../store/usage.ts";
import type { AppParts } from "./app-parts.ts";
import type { RequestContext } from "./context.ts";

/** What the Authorization header holds: no key at all, one that nobody has, or a key that was made here. */
type Credential = "missing" | "unknown" | KnownKey;

const endpoints: ReadonlySet<string> = new Set(Object.values(paths));

/** Reads the header Authorization: Bearer <API_KEY>. */
export function readCredential({ headers }: Request, store: ReadStore): Credential {
  const secret = /^bearer +(\S.*)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (secret === undefined) return "missing";
  // A checksum that is wrong shows a typing error or a guess; the store need not be asked.
  if (!isWellFormed(secret)) return "unknown";
  // Whatever other programs have written before holds for this request, a revocation too (§5).
  store.refresh();
  return store.keys.find(digestOf(secret)) ?? "unknown";
}

/** Whether a key was made here, is not revoked, and has not expired by a moment. */
export function isLive(credential: Credential, nowMs: number): credential is KnownKey {
  return typeof credential === "object" && !credential.revoked && nowMs < credential.expiresMs;
}

/**
 * Lets a request of the API pass, or throws an ApiError. The order is: limit, unknown path, method, key, subscription.
 * A request with a live key counts once, whatever its answer; one over the limit does not count.
 */
export function authorize(context: RequestContext, { limiter, store }: AppParts): void {
  const { request, path, arrivedMs } = context;
  const credential = readCredential(request, store);
  if (isLive(credential, arrivedMs)) count(context, credential, limiter, store.usage);
  if (!endpoints.has(path)) throw plainError("not_found");
  if (request.method !== "GET") throw plainError("method_not_allowed");
  if (credential === "missing") throw plainError("missing_api_key");
  if (credential === "unknown") throw plainError("invalid_api_key");
  if (!isLive(credential, arrivedMs)) throw plainError("revoked_api_key");
  if (!credential.subscribed) throw plainError("subscription_required");
}

function count(context: RequestContext, key: KnownKey, limiter: Limiter, usage: UsageCounter): void {
  context.key = key;
  const { allowed, remaining } = limiter.hit(key.number, context.arrivedMs, context.startedNs / 1e6);
  context.remaining = remaining;
  if (!allowed) throw new ApiError("rate_limit_exceeded", errors.rate_limit_exceeded.message(limiter.limit));
  usage.count(key.number, context.arrivedMs);
}
