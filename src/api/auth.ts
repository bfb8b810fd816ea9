/** The key of a request (§5): whether it may read leads, and how many requests it has left (§8). */
import { Elysia } from "elysia";
import { ApiError, errors, plainError } from "../contract/errors.ts";
import { digestOf, isActive, isWellFormed } from "../contract/key.ts";
import type { KnownKey } from "../db/reader.ts";
import type { Limiter } from "../limiter.ts";
import type { RequestStore } from "../served-store.ts";
import { createCache } from "./cache.ts";
import { type Call, type Credential, calls } from "./call.ts";

/** Lets a request of a route pass, and gives its handler the `key`. Elysia answers HEAD like GET, so that it ends here. */
export const auth = new Elysia({ name: "auth" }).use(calls).derive({ as: "scoped" }, ({ call }) => {
  const { request, credential } = call;
  if (request.method !== "GET") throw plainError("method_not_allowed");
  if (typeof credential === "string") throw plainError(credential);
  if (!credential.subscribed) throw plainError("subscription_required");
  return { key: credential };
});

/** At most this many keys are kept in memory. Few instances have more. */
const maxKeys = 20_000;

export type CredentialReader = (call: Call) => Credential;

/** Makes a function that reads the header `Authorization: Bearer <API_KEY>`. */
export function createCredentialReader(store: RequestStore): CredentialReader {
  const known = createCache<KnownKey>(maxKeys, () => 1);

  function find(secret: string, databaseVersion: number): KnownKey | null {
    const digest = digestOf(secret);
    const name = digest.toString("latin1");
    const kept = known.get(name, databaseVersion);
    // A wrong checksum shows a typing error or a guess, so the database need not be asked.
    if (kept !== null || !isWellFormed(secret)) return kept;
    const found = store.keys.find(digest);
    if (found !== null) known.keep(name, found);
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

/** Makes a function that finds the key of a request. A live one is counted in its window and in its usage, or gets the 429. */
export function createAdmission(readCredential: CredentialReader, limiter: Limiter, store: RequestStore) {
  return (call: Call): void => {
    const credential = readCredential(call);
    call.credential = credential;
    if (typeof credential === "string") return;
    const { allowed, remaining } = limiter.hit(credential.number, call.arrivedMs, call.startedNs / 1e6);
    call.remaining = remaining;
    if (!allowed) throw new ApiError("rate_limit_exceeded", errors.rate_limit_exceeded.message(limiter.limit));
    store.usage.count(credential.number, call.arrivedMs);
  };
}
