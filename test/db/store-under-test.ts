/** What the tests of every store ask of it. */
import type { Account } from "../../src/db/accounts.ts";
import type { ServedStore } from "../../src/served-store.ts";
import type { AdminStore } from "../support/admin-store.ts";

/** Both sides of a store: what an admin command does, and what the server then sees. */
export interface StoreUnderTest {
  readonly accounts: AdminStore["accounts"];
  readonly pixels: Pick<AdminStore["pixels"], "list" | "has" | "create" | "setStatus">;
  readonly keys: Pick<AdminStore["keys"], "create" | "list" | "revoke" | "findByDigest">;
  readonly leads: Pick<AdminStore["leads"], "beginImport"> & {
    export(account: Account["number"]): Iterable<readonly string[]>;
  };
  readonly served: Pick<ServedStore, "keys" | "pixels" | "leads" | "usage" | "probe" | "flush" | "isEmpty" | "close">;
}
