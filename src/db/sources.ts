/** Sources: the addresses at which vendors deliver leads. Only the digest of a token is kept, and a revocation is final. */
import { and, asc, eq, isNull, type SQL } from "drizzle-orm";
import { randomText } from "../contract/key.ts";
import type { Account, AccountNumber } from "./accounts.ts";
import { insertAct } from "./audit.ts";
import type { Connection, LeadDatabase } from "./connection.ts";
import { accounts, sources } from "./schema.ts";

/** A source without its token. */
export type Source = ReturnType<typeof select>[number];
type NewSource = Pick<Source, "prefix" | "label" | "options" | "signature"> & { readonly digest: Buffer };

/** The options of the imports of a source, by their long names. */
type SourceOptions = Readonly<Record<string, string | boolean>>;

/** The secret with which a vendor signs deliveries, and the header that has the signature. */
export interface SourceSignature {
  readonly secret: string;
  readonly header: string;
}

/** The column `options` as createSource writes it. The secret is stored in plain text, because signatures are computed with it. */
interface StoredOptions {
  readonly signature?: SourceSignature;
  readonly [option: string]: string | boolean | SourceSignature | undefined;
}

function select(read: Connection, where: SQL) {
  return read
    .select({
      id: sources.id,
      /** The ID of its account. */
      account: accounts.id,
      prefix: sources.prefix,
      label: sources.label,
      options: sources.options,
      createdMs: sources.createdAt,
      revokedMs: sources.revokedAt,
    })
    .from(sources)
    .innerJoin(accounts, eq(accounts.number, sources.account))
    .where(where)
    .orderBy(asc(sources.number))
    .all()
    .map((row) => {
      const { signature = null, ...options } = JSON.parse(row.options) as StoredOptions; // As createSource writes them.
      return { ...row, options: options as SourceOptions, signature };
    });
}

/** Finds a source by its ID; null if there is none. */
export function findSource(read: Connection, id: string): Source | null {
  return select(read, eq(sources.id, id))[0] ?? null;
}

/** Finds a source by the digest of its token; null if there is none. */
export function findSourceByDigest(read: Connection, digest: Buffer): Source | null {
  return select(read, eq(sources.digest, digest))[0] ?? null;
}

/** Lists the sources of an account in the order of their creation. */
export function listSources(read: Connection, account: AccountNumber): Source[] {
  return select(read, eq(sources.account, account));
}

/** Creates a source, and returns it. Its token is only known to the caller: the database has its digest. */
export async function createSource(
  database: LeadDatabase,
  account: Pick<Account, "number" | "id">,
  { options, signature, ...source }: NewSource,
  nowMs: number,
): Promise<Source> {
  const id = `src_${randomText(12)}`;
  const { read } = database;
  const stored: StoredOptions = signature === null ? options : { ...options, signature };
  const row = { account: account.number, id, ...source, options: JSON.stringify(stored), createdAt: nowMs };
  await database.write([
    read.insert(sources).values(row),
    insertAct(read, { atMs: nowMs, act: "source.create", account: account.id, detail: { source: id } }),
  ]);
  const made = findSource(database.read, id);
  if (made === null) throw new Error("a source that was just created is not there");
  return made;
}

/** Revokes a source on all servers. Gives the source as it is then; null if there is none with this ID. */
export async function revokeSource(database: LeadDatabase, id: string, nowMs: number): Promise<Source | null> {
  const { read } = database;
  const source = findSource(read, id);
  if (source === null) return null;
  const live = and(eq(sources.id, id), isNull(sources.revokedAt));
  await database.write(
    [
      read.update(sources).set({ revokedAt: nowMs }).where(live),
      insertAct(read, { atMs: nowMs, act: "source.revoke", account: source.account, detail: { source: id } }),
    ],
    "everywhere",
  );
  return findSource(database.read, id);
}
