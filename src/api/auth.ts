/** Authentication (§5): the key of a request, and whether it may read leads. */
import { Elysia } from "elysia";
import { plainError } from "../contract/errors.ts";
import { digestOf, isActive, isWellFormed } from "../contract/key.ts";
import type { KnownKey } from "../db/reader.ts";
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

/** Makes a function that reads the header `Authorization: Bearer <API_KEY>`. */
export function createCredentialReader(store: RequestStore): (call: Call) => Credential {
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
