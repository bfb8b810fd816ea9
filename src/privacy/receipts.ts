/** Receipts of erasures: stored with the erasure, completed by the recipients later, and never with personal data. */
import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { and, asc, eq, gt, isNotNull, type SQL, sql } from "drizzle-orm";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import { receipts } from "../db/schema.ts";
import type { Gap } from "./sent/gaps.ts";
import { discloseLeads, gapsOf, type LedgerLead, type Received } from "./sent/recipients.ts";

/** An RFC 3339 timestamp, of which only the beginning is checked. */
export const Timestamp = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT" });
/** SHA-256 or HMAC-SHA-256 in hexadecimal digits. */
export const Hashes = Type.Array(Type.String({ pattern: "^[0-9a-f]{64}$" }));

/** The part of a receipt with which a restore repeats the erasure. */
export const RepeatableErasure = Type.Object({
  erased_at: Timestamp,
  /** The ID of the account. */
  account: Type.String(),
  /** The instance under whose random key the hashes were made. */
  instance: Type.String(),
  /** The hashes that block future leads. */
  hashes: Hashes,
  /** The hashes of the identifiers passed to the erasure. Version 0.1.0 did not print this field or the next two. */
  given: Type.Optional(Hashes),
  /** The hashes of the IDs of the leads that were removed. */
  removed: Type.Optional(Hashes),
  /** The SHA-256 digests that were passed instead of identifiers. */
  digests: Type.Optional(Hashes),
});
export type RepeatableErasure = Static<typeof RepeatableErasure>;

/** Proves an erasure, and repeats it after the loss of the machine. */
export interface Receipt extends Required<RepeatableErasure> {
  /** The keys that received the leads, and on which UTC days. */
  readonly received: readonly Pick<Received, "key" | "first" | "last">[];
  /** The gaps of that record. */
  readonly gaps: readonly Gap[];
  /** The files of rejected rows that imports of the account wrote. Only the owner can delete them. */
  readonly rejects_files: readonly string[];
}

/** Returns a stored receipt. It is not checked again: only erasures and deletions of accounts store one. */
export function readReceipt(text: string): Receipt {
  return JSON.parse(text);
}

/** Returns a digest of what two receipts of the same erasure have in common. */
export function identityOf(receipt: object): Buffer {
  const { received: _, gaps: __, rejects_files: ___, ...erasure }: Partial<Receipt> = receipt;
  return createHash("sha256").update(JSON.stringify(erasure)).digest();
}

/** Returns the statement that stores a receipt. `removed` is kept until its recipients are complete. */
export function storeReceipt(
  database: Pick<Connection, "insert">,
  account: number,
  receipt: Pick<Receipt, "erased_at">,
  removed: readonly LedgerLead[],
) {
  const pending = removed.length === 0 ? null : JSON.stringify(removed);
  const erasedAt = Date.parse(receipt.erased_at);
  const row = { account, erasedAt, identity: identityOf(receipt), receipt: JSON.stringify(receipt), pending };
  return database.insert(receipts).values(row).onConflictDoNothing({ target: receipts.identity });
}

/** Returns the condition for the receipts that lack their recipients now, because their erasure is running or was killed; null without any. */
export function pendingReceipts(database: Connection): SQL | null {
  const rows = database.select({ identity: receipts.identity }).from(receipts).where(isNotNull(receipts.pending)).all();
  const all = JSON.stringify(rows.map(({ identity }) => identity.toString("hex")));
  return rows.length === 0 ? null : sql`${receipts.identity} IN (SELECT unhex(value) FROM json_each(${all}))`;
}

/** Adds the recipients to stored receipts. Call it when the servers have recorded their last pages of the removed leads. */
export async function completeReceipts(database: LeadDatabase, those: SQL | undefined): Promise<void> {
  for (const rows of readReceipts(database, and(isNotNull(receipts.pending), those))) {
    // A later step of an erasure that runs may have replaced a receipt since, under the same number.
    const complete = withRecipients(database.read, rows).map(({ row: { identity, pending }, receipt }) => {
      const asRead = and(eq(receipts.identity, identity), sql`${receipts.pending} IS ${pending}`);
      return database.read.update(receipts).set({ receipt, pending: null }).where(asRead);
    });
    await database.write(complete);
    await database.catchUp();
  }
}

type StoredReceipt = typeof receipts.$inferSelect;

/** The blocks of the ledger are read once for all of them. */
const receiptsAtOnce = 1_000;

/** Yields stored receipts, oldest first, some at a time. */
function* readReceipts(database: Pick<LeadDatabase, "read">, those: SQL | undefined): Generator<StoredReceipt[]> {
  for (let after = 0; ; ) {
    const later = and(gt(receipts.number, after), those);
    const rows = database.read.select().from(receipts).where(later).orderBy(asc(receipts.number)).limit(receiptsAtOnce);
    const some = rows.all();
    const last = some.at(-1);
    if (last === undefined) return;
    yield some;
    after = last.number;
  }
}

/** Adds the recipients to receipts that lack them, as far as they are known by now. */
function withRecipients(database: Connection, rows: readonly StoredReceipt[]) {
  const byErasure = Map.groupBy(rows, ({ account, erasedAt }) => `${account} ${erasedAt}`);
  return [...byErasure.values()].flatMap((some) => {
    const [{ account, erasedAt } = { account: 0, erasedAt: 0 }] = some;
    const removals = some.map((row) => ({ row, removed: removedBy(row) }));
    const all = removals.flatMap(({ removed }) => removed);
    const disclosed = discloseLeads(database, account, all, erasedAt);
    return removals.map(({ row, removed }) => {
      if (row.pending === null) return { row, receipt: row.receipt };
      const theirs = removed.flatMap((lead) => disclosed.get(lead) ?? []);
      const known = readReceipt(row.receipt);
      const received = daysByKey([...known.received, ...theirs.flatMap((one) => one.received)]);
      const completed: Receipt = { ...known, received, gaps: gapsOf([known, ...theirs]) };
      return { row, receipt: JSON.stringify(completed) };
    });
  });
}

function removedBy({ pending }: Pick<StoredReceipt, "pending">): LedgerLead[] {
  return JSON.parse(pending ?? "[]"); // As it was stored with the receipt.
}

/** Returns each key once, with its first and its last day. */
function daysByKey(received: Receipt["received"]): Receipt["received"] {
  return [...Map.groupBy(received, ({ key }) => key)].map(([key, times]) => {
    const days = times.flatMap(({ first, last }) => [first, last]).toSorted();
    return { key, first: days[0] ?? "", last: days.at(-1) ?? "" };
  });
}

/** Finds a stored receipt by its identity, and the leads that it is about until its recipients are complete. */
export function findReceipt(database: Connection, identity: Buffer) {
  const row = database.select().from(receipts).where(eq(receipts.identity, identity)).get();
  return row === undefined ? null : { receipt: row.receipt, removed: removedBy(row) };
}

/** A stored erasure: the hashes and digests that were given, and the hashes of the IDs of the removed leads. */
interface StoredErasure {
  readonly given: readonly string[];
  readonly digests: readonly string[];
  readonly removed: readonly string[];
}

/** Lists the erasures of an account that have one of some hashes in a list of their receipt. */
export function listErasures(
  database: Connection,
  account: number,
  list: keyof StoredErasure,
  hashes: readonly string[],
): StoredErasure[] {
  const wanted = JSON.stringify(hashes);
  const has = sql`EXISTS (SELECT 1 FROM json_each(${receipts.receipt}, ${`$.${list}`}) WHERE value IN (SELECT value FROM json_each(${wanted})))`;
  const rows = database
    .select({ receipt: receipts.receipt })
    .from(receipts)
    .where(and(eq(receipts.account, account), has));
  return rows.all().map(({ receipt }) => readReceipt(receipt));
}

/** Lists the receipts of an account as JSON, oldest first, all with their recipients: a killed erasure adds none. */
export function* listReceipts(database: Pick<LeadDatabase, "read">, account: number): Generator<string> {
  for (const rows of readReceipts(database, eq(receipts.account, account)))
    yield* withRecipients(database.read, rows).map(({ receipt }) => receipt);
}
