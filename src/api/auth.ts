/** The key of a request (§5): whether it may read leads, and how many requests it has left (§8). */
import { plainError } from "../contract/errors.ts";
import { digestOf, isActive, isWellFormed } from "../contract/key.ts";
import type { KnownKey } from "../db/reader.ts";
import type { Limiter } from "../limiter.ts";
import type { RequestStore } from "../served-store.ts";
import type { Call } from "./call.ts";

/** At most this many keys are kept in memory. Few instances have more. */
const maxKeys = 20_000;

/** The content of the Authorization header: a live key, or why there is none. */
type Credential = KnownKey | "missing_api_key" | "invalid_api_key" | "revoked_api_key";

export type CredentialReader = (call: Call) => Credential;

/** Makes a function that reads the header `Authorization: Bearer <API_KEY>`. */
export function createCredentialReader(store: RequestStore): CredentialReader {
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

  return (call) => {
    const secret = /^bearer +(\S.*)$/i.exec(call.request.headers.get("authorization") ?? "")?.[1];
    if (secret === undefined) return "missing_api_key";
    // Whatever other programs have written before holds for this request, such as a revocation (§5).
    call.databaseVersion = store.version();
    const key = find(secret, call.databaseVersion);
    if (key === null) return "invalid_api_key";
    return isActive(key, call.arrivedMs) ? key : "revoked_api_key";
  };
}

/**
 * Makes a function that returns the key of a request of the API, or throws why it may not read: the limit, the path, the
 * method, the key, or the subscription, in the order of test/spec/7-precedence.test.ts. A live key within its limit counts.
 */
export function createAdmission(readCredential: CredentialReader, limiter: Limiter, store: RequestStore) {
  return (call: Call): KnownKey => {
    const credential = readCredential(call);
    if (typeof credential !== "string") {
      call.key = credential;
      const { allowed, remaining } = limiter.hit(credential.number, call.arrivedMs, call.startedNs / 1e6);
      call.remaining = remaining;
      if (!allowed) throw plainError("rate_limit_exceeded");
      store.usage.count(credential.number, call.arrivedMs);
    }
    if (call.route === null) throw plainError("not_found");
    if (call.request.method !== "GET") throw plainError("method_not_allowed");
    if (typeof credential === "string") throw plainError(credential);
    if (!credential.subscribed) throw plainError("subscription_required");
    return credential;
  };
}
