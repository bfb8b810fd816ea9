/** Repeats the erasures that are newer than a backup, from their receipts. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { and, eq, sql } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { readDocument } from "../contract/stored-lead.ts";
import { readLeads } from "../db/all-leads.ts";
import type { Connection } from "../db/connection.ts";
import { readText } from "../db/database-files.ts";
import { orElse } from "../db/failure.ts";
import { accounts, leads } from "../db/schema.ts";
import { withHyphens } from "../db/uuid.ts";
import { DeletionReceipt } from "../privacy/delete-account.ts";
import { identifiersOf } from "../privacy/identifiers.ts";
import { RepeatableErasure, storeReceipt } from "../privacy/receipts.ts";
import { blockStatement, listInstances, openForms } from "../privacy/suppressions.ts";
import { UserError } from "../runtime/user-error.ts";

const AnyReceipt = Type.Union([RepeatableErasure, DeletionReceipt]);
type AnyReceipt = Static<typeof AnyReceipt>;

/** A line is the receipt alone, or the complete result of a command with the receipt in it. */
const Line = Type.Union([AnyReceipt, Type.Object({ receipt: AnyReceipt })]);

/** Reads a file of receipts, one per line; throws a UserError that names the first line that is none. */
export function readReceipts(path: string): AnyReceipt[] {
  const text = readText(path, "Pass --receipts a file with the output of receipt list or lead erase.");
  return text.split("\n").flatMap((line, number) => {
    if (/^\s*\]?\s*$/.test(line)) return [];
    const receipt = parseLine(line);
    if (receipt !== null) return [receipt];
    const advice = "Put one receipt on each line, as receipt list and lead erase print them.";
    throw new UserError(`Line ${number + 1} of ${path} is not a receipt.`, advice);
  });
}

/** The lines of a list in JSON begin with a bracket or a comma, and may end with a comma. */
function parseLine(line: string): AnyReceipt | null {
  const json = line.replace(/^\s*[[,]/, "").replace(/[,\]]\s*$/, "");
  const value: unknown = orElse(() => JSON.parse(json), null);
  if (!Value.Check(Line, value)) return null;
  return "receipt" in value ? value.receipt : value;
}

/** The JSON of a receipt, or the hash of a block. */
type Erasure = readonly [account: number, kind: "receipt" | "block", value: string];

const allErasures = sql`
  SELECT account, 'receipt', receipt FROM receipts
  UNION ALL SELECT account, 'block', lower(hex(hash)) FROM suppressions`;

/**
 * Records the erasures that the backup contains, which were applied before it was made and are not repeated, and the former
 * numbers of leads that it knows: an erasure since forgets those, but none that a lead got after it.
 */
export function rememberErasures(database: Connection): void {
  database.run(sql`CREATE TEMP TABLE known_former_numbers AS SELECT number FROM former_numbers`);
  database.run(sql`CREATE TEMP TABLE known_erasures AS ${allErasures}`);
}

/**
 * Removes the leads of erasures that the backup does not know: those whose IDs the receipts name, and those that match what
 * was given. Returns the number of leads.
 */
export function repeatErasures(database: Connection): number {
  const since = database.values<[...Erasure]>(sql`${allErasures} EXCEPT SELECT * FROM known_erasures`);
  return Map.groupBy(since, ([account]) => account)
    .entries()
    .reduce((sum, [account, erasures]) => sum + eraseAgain(database, account, erasedFormsOf(erasures)), 0);
}

type ErasedForms = ReturnType<typeof erasedFormsOf>;

/** Returns the forms that identify erased leads: those of the IDs of removed leads, and those of what was given. */
function erasedFormsOf(erasures: readonly Erasure[]) {
  const valuesOf = (wanted: Erasure[1]) => erasures.flatMap(([, kind, value]) => (kind === wanted ? [value] : []));
  // Not validated: this version or an older one stored it.
  const receipts = valuesOf("receipt").map((text): RepeatableErasure => JSON.parse(text));
  const formsIn = (field: "hashes" | "given" | "removed" | "digests") =>
    receipts.flatMap((receipt) => receipt[field] ?? []);
  // Version 0.1.0 kept no receipts, and its blocks do not say what was given: each counts as given.
  const receipted = new Set(formsIn("hashes"));
  const unexplained = valuesOf("block").filter((form) => !receipted.has(form));
  return {
    removed: new Set(formsIn("removed")),
    given: new Set([...formsIn("given"), ...formsIn("digests"), ...unexplained]),
  };
}

/** Removes the leads of one account that erasures name, and returns their number. */
function eraseAgain(database: Connection, number: number, { removed, given }: ErasedForms): number {
  const account = database.select({ id: accounts.id }).from(accounts).where(eq(accounts.number, number)).get();
  if (account === undefined || removed.size + given.size === 0) return 0;
  const formsOf = openForms(database, { number, id: account.id });
  const isErased = (identifier: PersonIdentifier) => {
    const isId = identifier.kind === "id";
    if (!isId && given.size === 0) return false;
    return formsOf(identifier).some((form) => given.has(form) || (isId && removed.has(form)));
  };
  const lead = and(eq(leads.account, number), eq(leads.identifiedAt, sql.placeholder("ms")));
  const remove = database.delete(leads).where(lead).prepare();
  let erased = 0;
  for (const { ms, doc } of readLeads(database, number)) {
    const lead = readDocument(doc);
    if (!identifiersOf(lead).some(isErased)) continue;
    remove.run({ ms });
    erased++;
  }
  const known = database.values<[number, string]>(sql`
    SELECT number, hex(uuid) FROM former_numbers
    WHERE account = ${number} AND number IN (SELECT number FROM known_former_numbers)`);
  for (const [former, uuid] of known) {
    if (isErased({ kind: "id", value: withHyphens(uuid) }))
      database.run(sql`DELETE FROM former_numbers WHERE number = ${former}`);
  }
  return erased;
}

/** Stores receipts and what they block; throws a UserError if the backup lacks the key of their hashes. */
export function applyReceipts(database: Connection, receipts: readonly AnyReceipt[]): void {
  for (const receipt of receipts) {
    if ("deleted_at" in receipt) storeDeletion(database, receipt);
    else applyReceipt(database, receipt);
  }
}

function storeDeletion(database: Connection, { deleted_at, account, leads, keys }: DeletionReceipt): void {
  database.run(sql`
    INSERT OR IGNORE INTO deleted_accounts (id, deleted_at, leads)
    VALUES (${account}, ${Date.parse(deleted_at)}, ${leads})`);
  for (const key of keys) {
    database.run(sql`
      INSERT OR IGNORE INTO deleted_keys (digest, account) VALUES (${Buffer.from(key, "hex")}, ${account})`);
  }
}

function applyReceipt(database: Connection, receipt: RepeatableErasure): void {
  const instance = listInstances(database).find(({ id }) => id === receipt.instance);
  if (instance === undefined) {
    throw new UserError(
      `The receipt of ${receipt.erased_at} belongs to another instance: this backup lacks the key of its hashes.`,
      "Use a backup of the same instance, or omit the receipt and erase the person again.",
    );
  }
  const account = database.select().from(accounts).where(eq(accounts.id, receipt.account)).get();
  // An account that the backup does not have has no leads to erase.
  if (account === undefined) return;
  const blocks = { hashes: receipt.hashes, digests: receipt.digests ?? [] };
  const erasedAtMs = Date.parse(receipt.erased_at);
  database.run(blockStatement(account.number, instance, blocks, erasedAtMs, false));
  // Version 0.1.0 printed receipts that do not say what was removed. Their blocks are enough.
  if (receipt.given === undefined || receipt.removed === undefined) return;
  storeReceipt(database, account.number, receipt, []).run();
}
