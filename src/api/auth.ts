/** Who asks (§5), and whether requests are left (§8): the credential of a request, and whether it may pass. */
import { ApiError, errors, plainError } from "../contract/errors.ts";
import { digestOf, isActive, isWellFormed } from "../contract/key.ts";
import type { Limiter } from "../limiter.ts";
import type { KnownKey, ReadStore } from "../store/reading.ts";
import type { UsageCounter } from "../store/usage.ts";
import type { AppParts } from "./app-parts.ts";
import { createCache } from "./cache.ts";
import type { RequestContext } from "./context.ts";

/** What the Authorization header holds: a live key, or why it has none. */
type Credential = KnownKey | "missing_api_key" | "invalid_api_key" | "revoked_api_key";

/** At most this many keys are kept in memory. Few instances have more. */
const mostKeys = 20_000;

export type Auth = ReturnType<typeof createAuth>;

/** Makes what tells who sent a request, and whether it may pass. */
export function createAuth({ limiter, store }: Pick<AppParts, "limiter" | "store">) {
  const findKey = createKeyFinder(store);

  /** Reads the header Authorization: Bearer <API_KEY>. */
  function readCredential(context: RequestContext): Credential {
    const secret = /^bearer +(\S.*)$/i.exec(context.request.headers.get("authorization") ?? "")?.[1];
    if (secret === undefined) return "missing_api_key";
    // A checksum that is wrong shows a typing error or a guess; the store need not be asked.
    if (!isWellFormed(secret)) return "invalid_api_key";
    // Whatever other programs have written before holds for this request, a revocation too (§5).
    context.storeVersion = store.version();
    const key = findKey(digestOf(secret), context.storeVersion);
    if (key === null) return "invalid_api_key";
    return isActive(key, context.arrivedMs) ? key : "revoked_api_key";
  }

  return {
    /** The live key of a request that is sent elsewhere; null where it has none. */
    liveKeyOf(context: RequestContext): KnownKey | null {
      const credential = readCredential(context);
      return typeof credential === "string" ? null : credential;
    },
    /**
     * Lets a request of the API pass, or throws an ApiError. The order is: limit, unknown path, method, key,
     * subscription. A request with a live key counts once, whatever its answer; one over the limit does not count.
     */
    authorize(context: RequestContext): void {
      const { request, route } = context;
      const credential = readCredential(context);
      if (typeof credential !== "string") count(context, credential, limiter, store.usage);
      if (route === null) throw plainError("not_found");
      if (request.method !== "GET") throw plainError("method_not_allowed");
      if (typeof credential === "string") throw plainError(credential);
      if (!credential.subscribed) throw plainError("subscription_required");
    },
  };
}

/** Finds a key by its digest: among those that were found before, else in the store. */
function createKeyFinder({ keys }: ReadStore) {
  const cache = createCache<KnownKey>(mostKeys, () => 1);
  return (digest: Buffer, storeVersion: number): KnownKey | null => {
    const name = digest.toString("latin1");
    const known = cache.get(name, storeVersion);
    if (known !== null) return known;
    const found = keys.find(digest);
    if (found !== null) cache.keep(name, found);
    return found;
  };
}

/** Counts a request in the window and the usage of its key. Throws where the window has none left. */
function count(context: RequestContext, key: KnownKey, limiter: Limiter, usage: UsageCounter): void {
  context.key = key;
  const { allowed, remaining } = limiter.hit(key.number, context.arrivedMs, context.startedNs / 1e6);
  context.remaining = remaining;
  if (!allowed) throw new ApiError("rate_limit_exceeded", errors.rate_limit_exceeded.message(limiter.limit));
  usage.count(key.number, context.arrivedMs);
}
