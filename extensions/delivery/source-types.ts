/** The port of sources: the addresses at which vendors deliver leads, each with a token that writes and never reads. */
import type { AccountNumber } from "../../src/store/reading.ts";

export interface Source {
  readonly id: string;
  /** The id of its account. */
  readonly account: string;
  /** The first characters of its token. */
  readonly prefix: string;
  readonly label: string | null;
  /** How its rows are read: options of an import by their long names. */
  readonly options: Readonly<Record<string, string | boolean>>;
  readonly createdMs: number;
  readonly revokedMs: number | null;
}

type NewSource = Pick<Source, "prefix" | "label" | "options"> & { readonly digest: Buffer };

/**
 * What the webhook endpoint asks: the source with this token as it is now. Throws a StoreError where nobody can say, beside a
 * node that does not hear the rest of its cluster.
 */
export interface SourceFinder {
  findByDigest(digest: Buffer): Source | null;
}

export interface SourceRepository {
  /** For an endpoint, which goes on for as long as the store is open. */
  finder(): SourceFinder;
  create(account: AccountNumber, source: NewSource, nowMs: number): Source;
  list(account: AccountNumber): Source[];
  find(id: string): Source | null;
  /** The source as it is after its revocation, which is final; null when there is none with this id. */
  revoke(id: string, nowMs: number): Source | null;
}
