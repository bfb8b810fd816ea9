/**
 * The blocks that keep erased persons out of their account: HMAC-SHA-256 of their identifiers, under a random key of this
 * instance. Nobody can read from the file who they were; anyone who has the file can test guesses.
 */
import { createHmac } from "node:crypto";
import { and, asc, count, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import { type accounts, instances, suppressedDigests, suppressions } from "../db/schema.ts";
import { digestsOf, identifiersIn, type PersonReference, spellingsOf } from "./identifiers.ts";
import { listErasures } from "./receipts.ts";

/** An account as its blocks and receipts know it. */
export type SuppressedAccount = Pick<typeof accounts.$inferSelect, "number" | "id">;

type Instance = typeof instances.$inferSelect;

/** Lists the key of this file first, then those that a restore brought over. */
export function listInstances(database: Connection): Instance[] {
  return database.select().from(instances).orderBy(asc(instances.number)).all();
}

/** Returns the hash of an identifier. The account is part of it: two accounts have different hashes of the same person. */
export function hashOf(instance: Instance, account: string, { kind, value }: PersonIdentifier): Buffer {
  return createHmac("sha256", instance.secret).update(`${account}\0${kind}\0${value}`).digest();
}

/**
 * Returns the statements that block hashes and digests, which are in hexadecimal digits. A block that was lifted later stays
 * lifted, unless this decision is the newest one, whatever the clock says.
 */
export function blockStatements(
  account: number,
  instance: Instance,
  { hashes, digests }: { readonly hashes: readonly string[]; readonly digests: readonly string[] },
  erasedAtMs: number,
  isNewest: boolean,
): SQL[] {
  const lifted = isNewest ? sql`, ifnull(lifted_at + 1, 0)` : sql``;
  const update = sql`WHERE TRUE ON CONFLICT DO UPDATE SET erased_at = max(erased_at, excluded.erased_at${lifted})`;
  const block = sql`INSERT INTO suppressions (account, instance, hash, erased_at)
    SELECT ${account}, ${instance.number}, unhex(value), ${erasedAtMs} FROM json_each(${JSON.stringify(hashes)}) ${update}`;
  const blockDigests = sql`INSERT INTO suppressed_digests (account, digest, erased_at)
    SELECT ${account}, unhex(value), ${erasedAtMs} FROM json_each(${JSON.stringify(digests)}) ${update}`;
  return digests.length === 0 ? [block] : [block, blockDigests];
}

/** Blocks of one kind: hashes under the key of one instance, or the digests that were given instead of identifiers. */
interface BlockList {
  readonly table: typeof suppressions | typeof suppressedDigests;
  /** The column with the form of the identifier. */
  readonly column: typeof suppressions.hash | typeof suppressedDigests.digest;
  /** The condition that selects the blocks that were not lifted. */
  readonly inForce: SQL | undefined;
  readonly formsOf: (identifier: PersonIdentifier) => Buffer[];
}

function listBlocks(database: Connection, { number, id }: SuppressedAccount): BlockList[] {
  const inForce = ({ account, liftedAt, erasedAt }: BlockList["table"]) =>
    and(eq(account, number), or(isNull(liftedAt), gt(erasedAt, liftedAt)));
  const hashes = listInstances(database).map((instance) => ({
    table: suppressions,
    column: suppressions.hash,
    inForce: and(inForce(suppressions), eq(suppressions.instance, instance.number)),
    formsOf: (identifier: PersonIdentifier) =>
      spellingsOf(identifier).map((value) => hashOf(instance, id, { kind: identifier.kind, value })),
  }));
  const digests = {
    table: suppressedDigests,
    column: suppressedDigests.digest,
    inForce: inForce(suppressedDigests),
    formsOf: (identifier: PersonIdentifier) => digestsOf(identifier).map(fromHex),
  };
  return [...hashes, digests];
}

/** Returns a function that lists every form (in hexadecimal) under which the blocks of an account store an identifier. */
export function openForms(database: Connection, account: SuppressedAccount) {
  const lists = listBlocks(database, account);
  return (identifier: PersonIdentifier): string[] =>
    lists.flatMap(({ formsOf }) => formsOf(identifier)).map((form) => form.toString("hex"));
}

function findBlock(database: Connection, { table, inForce }: BlockList, where?: SQL) {
  return database.select({ at: table.erasedAt }).from(table).where(and(inForce, where)).limit(1);
}

/**
 * Returns a function that tells whether any identifier is blocked; null if the account has no block. Call it within the
 * transaction that depends on it.
 */
export function openSuppressions(
  database: Connection,
  account: SuppressedAccount,
): ((identifiers: readonly PersonIdentifier[]) => boolean) | null {
  // Hashing costs a good part of a row, and most accounts have erased nobody.
  const used = listBlocks(database, account).filter((list) => findBlock(database, list).values().length > 0);
  const prepared = used.map((list) => ({
    formsOf: list.formsOf,
    block: findBlock(database, list, eq(list.column, sql.placeholder("form"))).prepare(),
  }));
  const isBlocked = (identifier: PersonIdentifier) =>
    prepared.some(({ formsOf, block }) => formsOf(identifier).some((form) => block.values({ form }).length > 0));
  return used.length === 0 ? null : (identifiers) => identifiers.some(isBlocked);
}

/**
 * Lifts every block that an import would meet by an identifier, and those of the IDs that an erasure by it removed. Returns how
 * many the identifier had; the IDs that one ID of a vendor may have become count as one.
 */
export async function liftBlocks(
  database: LeadDatabase,
  account: SuppressedAccount,
  reference: PersonReference,
  nowMs: number,
): Promise<number> {
  await database.catchUp();
  const { read } = database;
  const lists = listBlocks(read, account).map((list) => ({
    ...list,
    forms: identifiersIn(reference).flatMap(list.formsOf),
  }));
  const lifted = lists.reduce((sum, { table, inForce, column, forms }) => {
    const found = read
      .select({ of: count() })
      .from(table)
      .where(and(inForce, inArray(column, forms)));
    return sum + (found.get()?.of ?? 0);
  }, 0);
  const removed = removedOnlyBy(read, account.number, lists);
  const unblocked = reference.kind === "id" ? Math.min(lifted, 1) : lifted;
  const detail = { by: reference.kind, unblocked };
  const act = insertAct(read, { atMs: nowMs, act: "lead.unblock", account: account.id, detail });
  const statements = lists.map(({ table, inForce, column, forms }) => {
    // A clock may have been set back since the erasure.
    const liftedAt = sql`max(${nowMs}, ${table.erasedAt})`;
    const ids = table === suppressions ? removed : [];
    return read
      .update(table)
      .set({ liftedAt })
      .where(and(inForce, inArray(column, [...forms, ...ids])));
  });
  await database.write([...statements, act], "everywhere");
  return unblocked;
}

const fromHex = (hash: string) => Buffer.from(hash, "hex");

/**
 * Returns the hashes of the IDs that the erasures of a person removed. An ID stays blocked that another erasure removed as well,
 * as long as what was given to that one is blocked.
 */
function removedOnlyBy(
  database: Connection,
  account: number,
  lists: readonly (BlockList & { readonly forms: readonly Buffer[] })[],
): Buffer[] {
  const isTheirs = new Set(lists.flatMap(({ forms }) => forms.map((form) => form.toString("hex"))));
  const given = [...isTheirs];
  const theirs = [
    ...listErasures(database, account, "given", given),
    ...listErasures(database, account, "digests", given),
  ];
  const removed = new Set(theirs.flatMap((erasure) => erasure.removed));
  const isBlocked = (form: string) =>
    lists.some((list) => findBlock(database, list, eq(list.column, fromHex(form))).values().length > 0);
  const others = listErasures(database, account, "removed", [...removed]).filter((other) =>
    [...other.given, ...other.digests].some((form) => !isTheirs.has(form) && isBlocked(form)),
  );
  return [...removed.difference(new Set(others.flatMap((other) => other.removed)))].map(fromHex);
}
