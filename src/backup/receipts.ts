/** Repeats the erasures that a backup does not know yet, by their receipts. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { and, asc, eq, gt, sql } from "drizzle-orm";
import type { Connection } from "../db/connection.ts";
import { accounts, leads, receipts as receiptsTable, suppressedDigests, suppressions } from "../db/schema.ts";
import { digestsOf, identifiersOf, spellingsOf } from "../privacy/identifiers.ts";
import { hashOf, listInstances } from "../privacy/suppressions.ts";
import { UserError } from "../user-error.ts";

const Hashes = Type.Array(Type.String({ pattern: "^[0-9a-f]{64}$" }));

const Receipt = Type.Object({
  erased_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT" }),
  account: Type.String(),
  instance: Type.String(),
  hashes: Hashes,
  // Version 0.1.0 printed neither of the next two.
  given: Type.Optional(Hashes),
  removed: Type.Optional(Hashes),
  digests: Type.Optional(Hashes),
});
/** What a restore needs of the receipt of an erasure. */
type Receipt = Static<typeof Receipt>;

/** The receipt of an account that was deleted, with the SHA-256 of its keys. */
const Deletion = Type.Object({
  deleted_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT" }),
  account: Type.String(),
  leads: Type.Integer(),
  keys: Hashes,
});
type Deletion = Static<typeof Deletion>;

/** A line is the receipt alone, or the complete result of a command with the receipt in it. */
const Line = Type.Union([Receipt, Deletion, Type.Object({ receipt: Type.Union([Receipt, Deletion]) })]);

/** Reads a file of receipts, one per line; throws a UserError that names the first line that is none. */
export function readReceipts(path: string): (Receipt | Deletion)[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new UserError(
      `${path} cannot be read.`,
      "Give --receipts a file with the output of receipt list or lead erase.",
    );
  }
  return text.split("\n").flatMap((line, number) => {
    if (/^\s*\]?\s*$/.test(line)) return [];
    const receipt = parseLine(line);
    if (receipt !== null) return [receipt];
    const advice = "Put one receipt on each line, as receipt list and lead erase print them.";
    throw new UserError(`Line ${number + 1} of ${path} is not a receipt.`, advice);
  });
}

/** The lines of a list in JSON begin with a bracket or a comma, and may end with a comma. */
function parseLine(line: string): Receipt | Deletion | null {
  try {
    const value: unknown = JSON.parse(line.replace(/^\s*[[,]/, "").replace(/[,\]]\s*$/, ""));
    if (!Value.Check(Line, value)) return null;
    return "receipt" in value ? value.receipt : value;
  } catch {
    return null;
  }
}

/** What the backup itself knows, before anything is merged into it. */
export interface KnownErasures {
  /**
   * Removes the leads of erasures that the backup did not know: those whose IDs the receipts name, and those that match what
   * was given. Returns the number of leads.
   */
  repeat(): number;
}

/** Remembers which erasures a backup knows: it was consistent when it was made, so they remove nothing from it. */
export function rememberErasures(database: Connection): KnownErasures {
  database.run(sql`CREATE TEMP TABLE known_receipts AS SELECT identity FROM main.receipts`);
  database.run(sql`CREATE TEMP TABLE known_blocks AS SELECT account, instance, hash FROM main.suppressions`);
  database.run(sql`CREATE TEMP TABLE known_digests AS SELECT account, digest FROM main.suppressed_digests`);
  return {
    repeat() {
      const accountsOf = sql`
        SELECT account FROM main.receipts UNION SELECT account FROM main.suppressions
        UNION SELECT account FROM main.suppressed_digests`;
      return database
        .select({ number: accounts.number, id: accounts.id })
        .from(accounts)
        .where(sql`${accounts.number} IN (${accountsOf})`)
        .all()
        .reduce((sum, account) => sum + eraseAgain(database, account), 0);
    },
  };
}

interface AccountKey {
  readonly number: number;
  readonly id: string;
}

/** Hashes under the key of an instance, as `instance hash`. */
type Hashed = ReadonlySet<string>;

/** Removes the leads of one account that its new receipts name. */
function eraseAgain(database: Connection, account: AccountKey): number {
  const { removed, given, digests } = listNew(database, account.number);
  if (removed.size + given.size + digests.size === 0) return 0;
  const instances = listInstances(database);
  const remove = database
    .delete(leads)
    .where(eq(leads.number, sql.placeholder("number")))
    .prepare();
  let erased = 0;
  for (const { number, doc } of eachLead(database, account.number)) {
    const isErased = identifiersOf(JSON.parse(doc)).some((identifier) => {
      const { kind } = identifier;
      if (digestsOf(identifier).some((digest) => digests.has(digest))) return true;
      if (kind !== "id" && given.size === 0) return false;
      return instances.some((instance) =>
        spellingsOf(identifier).some((value) => {
          const hash = `${instance.id} ${hashOf(instance, account.id, { kind, value }).toString("hex")}`;
          return given.has(hash) || (kind === "id" && removed.has(hash));
        }),
      );
    });
    if (!isErased) continue;
    remove.run({ number });
    erased++;
  }
  return erased;
}

/** The hashes of the erasures of an account that the backup did not know. */
function listNew(database: Connection, account: number): { removed: Hashed; given: Hashed; digests: Hashed } {
  const [removed, given, receipted] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const receipts = database.values<[string]>(sql`
    SELECT receipt FROM main.receipts WHERE account = ${account} AND identity NOT IN (SELECT identity FROM known_receipts)`);
  const digests = new Set(
    database
      .values<[string]>(sql`
        SELECT lower(hex(digest)) FROM main.suppressed_digests AS block WHERE account = ${account}
          AND NOT EXISTS (
            SELECT 1 FROM known_digests AS known WHERE known.account = block.account AND known.digest = block.digest)`)
      .map(([digest]) => digest),
  );
  for (const [text] of receipts) {
    const receipt: Receipt = JSON.parse(text);
    for (const hash of receipt.hashes) receipted.add(`${receipt.instance} ${hash}`);
    for (const hash of receipt.removed ?? []) removed.add(`${receipt.instance} ${hash}`);
    for (const hash of receipt.given ?? []) given.add(`${receipt.instance} ${hash}`);
    for (const digest of receipt.digests ?? []) digests.add(digest);
  }
  // Version 0.1.0 kept no receipts, and its blocks do not say what was given: each counts as given.
  const blocks = database.values<[string]>(sql`
    SELECT instance.id || ' ' || lower(hex(block.hash)) FROM main.suppressions AS block
    JOIN main.instances AS instance ON instance.number = block.instance
    WHERE block.account = ${account} AND NOT EXISTS (
      SELECT 1 FROM known_blocks AS known
      WHERE known.account = block.account AND known.instance = block.instance AND known.hash = block.hash)`);
  for (const [block] of blocks) if (!receipted.has(block)) given.add(block);
  return { removed, given, digests };
}

/** Reads all leads of an account in groups, so that no group fills the memory. */
function* eachLead(database: Connection, account: number): Generator<{ number: number; doc: string }> {
  const next = database
    .select({ number: leads.number, doc: leads.doc })
    .from(leads)
    .where(and(eq(leads.account, account), gt(leads.number, sql.placeholder("last"))))
    .orderBy(asc(leads.number))
    .limit(1000)
    .prepare();
  for (let last = 0; ; ) {
    const rows = next.all({ last });
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.number;
  }
}

/** Stores receipts and what they block; throws a UserError if the backup lacks the key of their hashes. */
export function storeReceipts(database: Connection, receipts: readonly (Receipt | Deletion)[]): void {
  for (const receipt of receipts) {
    if ("deleted_at" in receipt) storeDeletion(database, receipt);
    else applyReceipt(database, receipt);
  }
}

function storeDeletion(database: Connection, { deleted_at, account, leads, keys }: Deletion): void {
  database.run(sql`
    INSERT OR IGNORE INTO deleted_accounts (id, deleted_at, leads)
    VALUES (${account}, ${Date.parse(deleted_at)}, ${leads})`);
  for (const key of keys) {
    database.run(sql`
      INSERT OR IGNORE INTO deleted_keys (digest, account) VALUES (${Buffer.from(key, "hex")}, ${account})`);
  }
}

function applyReceipt(database: Connection, receipt: Receipt): void {
  const instance = listInstances(database).find(({ id }) => id === receipt.instance);
  if (instance === undefined) {
    throw new UserError(
      `The receipt of ${receipt.erased_at} belongs to another instance: this backup lacks the key of its hashes.`,
      "Use a backup of the same instance, or leave the receipt out and erase the person again.",
    );
  }
  const account = database.select().from(accounts).where(eq(accounts.id, receipt.account)).get();
  // An account that the backup does not have has no leads to erase.
  if (account === undefined) return;
  const erasedAt = Date.parse(receipt.erased_at);
  // A block that was lifted after the erasure stays lifted: the newest decision wins.
  const newest = { erasedAt: sql`max(erased_at, excluded.erased_at)` };
  for (const hash of receipt.hashes) {
    const block = { account: account.number, instance: instance.number, hash: Buffer.from(hash, "hex"), erasedAt };
    database
      .insert(suppressions)
      .values(block)
      .onConflictDoUpdate({ target: [suppressions.account, suppressions.instance, suppressions.hash], set: newest })
      .run();
  }
  for (const digest of receipt.digests ?? []) {
    database
      .insert(suppressedDigests)
      .values({ account: account.number, digest: Buffer.from(digest, "hex"), erasedAt })
      .onConflictDoUpdate({ target: [suppressedDigests.account, suppressedDigests.digest], set: newest })
      .run();
  }
  // Version 0.1.0 printed receipts that do not say what was removed. Their blocks are enough.
  if (receipt.given === undefined || receipt.removed === undefined) return;
  // The same receipt is stored once. What it says about recipients is completed later, and no part of its identity.
  const { received: _, gaps: __, rejects_files: ___, ...erasure }: Record<string, unknown> = receipt;
  const identity = createHash("sha256").update(JSON.stringify(erasure)).digest();
  database
    .insert(receiptsTable)
    .values({ account: account.number, erasedAt, identity, receipt: JSON.stringify(receipt) })
    .onConflictDoNothing()
    .run();
}
