/**
 * The blocks that keep erased persons out of their account: HMAC-SHA-256 of their identifiers, under a random key of this
 * instance. Nobody can read from the file who they were; anyone who has the file can test guesses.
 */
import { createHmac } from "node:crypto";
import { and, asc, eq, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import { type accounts, instances, suppressions } from "../db/schema.ts";
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
 * Returns the statement that blocks hashes and digests, which are hexadecimal. A block that was lifted later stays lifted,
 * unless this decision is the newest one, whatever the clock says.
 */
export function blockStatement(
  account: number,
  instance: Instance,
  { hashes, digests }: { readonly hashes: readonly string[]; readonly digests: readonly string[] },
  erasedAtMs: number,
  isNewest: boolean,
): SQL {
  const afterLift = isNewest ? sql`, ifnull(lifted_at + 1, 0)` : sql``;
  const blocks = [...hashes.map((hash) => [hash, instance.number]), ...digests.map((digest) => [digest, null])];
  return sql`INSERT INTO suppressions (account, hash, instance, erased_at)
    SELECT ${account}, unhex(value ->> 0), value ->> 1, ${erasedAtMs} FROM json_each(${JSON.stringify(blocks)})
    WHERE TRUE ON CONFLICT DO UPDATE SET erased_at = max(erased_at, excluded.erased_at${afterLift})`;
}

/** The blocks of an account that were not lifted. */
const inForce = ({ number }: SuppressedAccount) =>
  and(
    eq(suppressions.account, number),
    or(isNull(suppressions.liftedAt), gt(suppressions.erasedAt, suppressions.liftedAt)),
  );

/** Returns a function that lists every form (in hexadecimal) under which the blocks of an account may store an identifier. */
export function openForms(database: Connection, account: SuppressedAccount) {
  // Hashing takes much of the time of a row, so only the kinds of blocks that the account has are computed.
  const { instance } = suppressions;
  const ofAccount = eq(suppressions.account, account.number);
  const used = database.selectDistinct({ instance }).from(suppressions).where(ofAccount).all();
  const isUsed = new Set(used.map((one) => one.instance));
  const keys = listInstances(database).filter(({ number }) => isUsed.has(number));
  return (identifier: PersonIdentifier): string[] => [
    ...keys.flatMap((key) =>
      spellingsOf(identifier).map((value) => hashOf(key, account.id, { kind: identifier.kind, value }).toString("hex")),
    ),
    ...(isUsed.has(null) ? digestsOf(identifier) : []),
  ];
}

/**
 * Returns a function that tells whether any identifier is blocked; null if the account has no block. Call it within the
 * transaction that depends on it.
 */
export function openSuppressions(
  database: Connection,
  account: SuppressedAccount,
): ((identifiers: readonly PersonIdentifier[]) => boolean) | null {
  const blocks = database.select({ at: suppressions.erasedAt }).from(suppressions).limit(1);
  if (blocks.where(inForce(account)).values().length === 0) return null;
  const formsOf = openForms(database, account);
  const isBlocked = openIsBlocked(database, account);
  return (identifiers) => identifiers.some((identifier) => formsOf(identifier).some(isBlocked));
}

function openIsBlocked(database: Connection, account: SuppressedAccount): (form: string) => boolean {
  const isForm = sql`${suppressions.hash} = unhex(${sql.placeholder("form")})`;
  const block = database.select({ at: suppressions.erasedAt }).from(suppressions);
  const one = block.where(and(inForce(account), isForm)).prepare();
  return (form) => one.values({ form }).length > 0;
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
  const forms = identifiersIn(reference).flatMap(openForms(read, account));
  const lifted = [...new Set(forms)].filter(openIsBlocked(read, account)).length;
  const unblocked = reference.kind === "id" ? Math.min(lifted, 1) : lifted;
  const detail = { by: reference.kind, unblocked };
  const act = insertAct(read, { atMs: nowMs, act: "lead.unblock", account: account.id, detail });
  const all = JSON.stringify([...forms, ...removedOnlyBy(read, account, forms)]);
  // A clock may have been set back since the erasure.
  const lift = read
    .update(suppressions)
    .set({ liftedAt: sql`max(${nowMs}, ${suppressions.erasedAt})` })
    .where(and(inForce(account), sql`${suppressions.hash} IN (SELECT unhex(value) FROM json_each(${all}))`));
  await database.write([lift, act], "everywhere");
  return unblocked;
}

/**
 * Returns the hashes of the IDs that only the erasures of a person removed. `forms` are those of the person's identifiers. An
 * ID that another erasure also removed stays blocked as long as the identifiers of that erasure are blocked.
 */
function removedOnlyBy(database: Connection, account: SuppressedAccount, forms: readonly string[]): Iterable<string> {
  const isTheirs = new Set(forms);
  const erasures = (list: "given" | "digests" | "removed", hashes: Iterable<string>) =>
    listErasures(database, account.number, list, [...hashes]);
  const theirs = [...erasures("given", isTheirs), ...erasures("digests", isTheirs)];
  const removed = new Set(theirs.flatMap((erasure) => erasure.removed));
  const isBlocked = openIsBlocked(database, account);
  const others = erasures("removed", removed).filter((other) =>
    [...other.given, ...other.digests].some((form) => !isTheirs.has(form) && isBlocked(form)),
  );
  return removed.difference(new Set(others.flatMap((other) => other.removed)));
}
