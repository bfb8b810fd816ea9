/** The key of a request (§5), and the checks that every request of the API passes before its route. */
import { plainError } from "../contract/errors.ts";
import { digestOf, isActive, isWellFormed } from "../contract/key.ts";
import type { KnownKey } from "../db/reader.ts";
import type { Limiter } from "./limiter.ts";
import type { RequestContext } from "./request-context.ts";
import type { RequestStore } from "./request-store.ts";

/** The content of the Authorization header: a live key, or why there is none. */
export type Credential = KnownKey | "missing_api_key" | "invalid_api_key" | "revoked_api_key";

/**
 * Checks a request of the API in the order of the lines, and returns its key. Throws the error of the first check that
 * fails. A request with a live key counts, unless its limit is used up.
 */
export function admit(
  context: RequestContext,
  credential: Credential,
  limiter: Limiter,
  { usage }: RequestStore,
): KnownKey {
  if (typeof credential !== "string") {
    context.key = credential;
    const { allowed, remaining } = limiter.hit(credential.number, context.arrivedMs, context.startedNs / 1e6);
    context.remaining = remaining;
    if (!allowed) throw plainError("rate_limit_exceeded");
    usage.count(credential.number, context.arrivedMs);
  }
  if (context.route === null) throw plainError("not_found");
  if (context.request.method !== "GET") throw plainError("method_not_allowed");
  if (typeof credential === "string") throw plainError(credential);
  if (!credential.subscribed) throw plainError("subscription_required");
  return credential;
}

/** At most this many keys are kept in memory. Few instances have more. */
const maxKeys = 20_000;

/**
 * Makes a function that reads the header `Authorization: Bearer <API_KEY>`. It also sets the version of the database of the
 * request, for which cached pages may be served.
 */
export function createCredentialReader(store: RequestStore): (context: RequestContext) => Credential {
  /** The keys that were found in one version of the database, by their digest. */
  const known = new Map<string, KnownKey>();
  let knownVersion = Number.NaN;

  function find(secret: string, databaseVersion: number): KnownKey | null {
    if (databaseVersion !== knownVersion || known.size >= maxKeys) known.clear();
    knownVersion = databaseVersion;
    const digest = digestOf(secret);
    const name = digest.toString("latin1");
    const kept = known.get(name) ?? null;
    // A wrong checksum shows a typing error or a guess, so the database need not be asked.
    if (kept !== null || !isWellFormed(secret)) return kept;
    const found = store.keys.find(digest);
    if (found !== null) known.set(name, found);
    return found;
  }

  return (context) => {
    const secret = /^bearer +(\S.*)$/i.exec(context.request.headers.get("authorization") ?? "")?.[1];
    if (secret === undefined) return "missing_api_key";
    // Whatever other programs have written before holds for this request, such as a revocation (§5).
    context.databaseVersion = store.version();
    const key = find(secret, context.databaseVersion);
    if (key === null) return "invalid_api_key";
    return isActive(key, context.arrivedMs) ? key : "revoked_api_key";
  };
}
