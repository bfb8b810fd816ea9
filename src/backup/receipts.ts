/** Receipts of erasures, one on each line. Where the machine was lost, they say what was erased since the backup. */
import { readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { eq } from "drizzle-orm";
import type { Connection } from "../db/connection.ts";
import { accounts } from "../db/schema.ts";
import { listInstances, openBlocking } from "../privacy/suppressions.ts";
import { StoreError } from "../store/errors.ts";

const ReceiptLine = Type.Object({
  erased_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT" }),
  account: Type.String(),
  instance: Type.String(),
  hashes: Type.Array(Type.String({ pattern: "^[0-9a-f]{64}$" })),
  digests: Type.Optional(Type.Array(Type.String({ pattern: "^[0-9a-f]{64}$" }))),
});
/** What a restore needs of a receipt. */
export type ReceiptLine = Static<typeof ReceiptLine>;
/** A line is the receipt alone, or the whole result of an erasure with the receipt in it. */
const Line = Type.Union([ReceiptLine, Type.Object({ receipt: ReceiptLine })]);

/** Reads a file of receipts; throws a StoreError that names the first line that is none. */
export function readReceipts(path: string): ReceiptLine[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new StoreError({ kind: "receipts unreadable", path });
  }
  return text
    .split("\n")
    .flatMap((line, number) => (/^\s*\]?\s*$/.test(line) ? [] : [readReceipt(line, number + 1, path)]));
}

function readReceipt(line: string, number: number, path: string): ReceiptLine {
  const read = parse(line);
  if (read !== null) return "receipt" in read ? read.receipt : read;
  throw new StoreError({ kind: "not a receipt", path, line: number });
}

/** The lines of a list in JSON begin with a bracket or a comma. */
function parse(line: string): Static<typeof Line> | null {
  try {
    const value: unknown = JSON.parse(line.replace(/^\s*[[,]/, ""));
    return Value.Check(Line, value) ? value : null;
  } catch {
    return null;
  }
}

/** Erases the persons of the receipts again; throws a StoreError where that cannot be done. */
export function applyReceipts(database: Connection, receipts: readonly ReceiptLine[]): void {
  const known = listInstances(database);
  for (const receipt of receipts) {
    const instance = known.find(({ id }) => id === receipt.instance);
    if (instance === undefined) {
      throw new StoreError({ kind: "receipt of another instance", erasedAt: receipt.erased_at });
    }
    const account = database.select().from(accounts).where(eq(accounts.id, receipt.account)).get();
    // An account that the backup does not have has no leads to erase.
    if (account === undefined) continue;
    const blocking = openBlocking(database, account);
    const erasedMs = Date.parse(receipt.erased_at);
    for (const hash of receipt.hashes) blocking.hash(instance, Buffer.from(hash, "hex"), erasedMs);
    for (const digest of receipt.digests ?? []) blocking.digest(Buffer.from(digest, "hex"), erasedMs);
  }
}
