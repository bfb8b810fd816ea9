/** The key of a request (§5). */
import { digestOf, isActive, isWellFormed } from "../contract/key.ts";
import type { KnownKey } from "../db/reader.ts";
import type { RequestStore } from "../served-store.ts";
import type { Call } from "./call.ts";

/** At most this many keys are kept in memory. Few instances have more. */
const maxKeys = 20_000;

/** The content of the Authorization header: a live key, or why there is none. */
export type Credential = KnownKey | "missing_api_key" | "invalid_api_key" | "revoked_api_key";

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
