/** What the tests of every store ask of it. */
import type {
  AccountRepository,
  KeyRepository,
  LeadRepository,
  PixelRepository,
} from "../../src/store/repositories.ts";
import type { ServedStore } from "../../src/store/serving.ts";

/** Both sides of a store: what an admin command does, and what the server then sees. */
export interface StoreUnderTest {
  readonly accounts: Pick<AccountRepository, "create" | "list" | "find" | "setActive">;
  readonly pixels: Pick<PixelRepository, "list" | "has" | "create" | "setStatus">;
  readonly keys: Pick<KeyRepository, "create" | "list" | "revoke" | "findByDigest">;
  readonly leads: Pick<LeadRepository, "beginImport" | "export">;
  readonly served: Pick<ServedStore, "keys" | "pixels" | "leads" | "usage" | "probe" | "flush" | "isEmpty" | "close">;
}
