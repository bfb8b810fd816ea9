/** All leads of an account, as they are stored: for exports, searches, and the digests of backups. */
import { and, asc, eq, gte } from "drizzle-orm";
import { earliestMs } from "../contract/calendar.ts";
import type { AccountNumber } from "./accounts.ts";
import type { Connection } from "./connection.ts";
import { placeholder } from "./placeholder.ts";
import { leads } from "./schema.ts";

/** A lead as it is stored. */
export interface StoredDocument {
  /** The timestamp, which is unique in an account. */
  readonly ms: number;
  /** The JSON document, exactly as it is served. */
  readonly doc: string;
  /** The number of the import that added it. */
  readonly batch: number;
}

/**
 * Yields the leads of an account, oldest first, in batches, so that no read blocks a writer or the WAL checkpoint for
 * long.
 */
export function* readLeadGroups(
  database: Connection,
  account: AccountNumber,
  fromMs = earliestMs,
): Generator<readonly StoredDocument[]> {
  const some = database
    .select({ ms: leads.identifiedAt, doc: leads.doc, batch: leads.import })
    .from(leads)
    .where(and(eq(leads.account, placeholder.integer("account")), gte(leads.identifiedAt, placeholder.integer("from"))))
    .orderBy(asc(leads.identifiedAt))
    .limit(1000)
    .prepare();
  for (let from = fromMs; ; ) {
    const rows = some.values({ account, from });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(([ms, doc, batch]) => ({ ms, doc, batch }));
    from = last[0] + 1;
  }
}

/** Receives the number of leads that were read, from time to time. */
export type OnRead = (leads: number) => void;

const leadsUntilCollected = 20_000;

interface Reading {
  readonly fromMs?: number;
  readonly onRead?: OnRead;
}

/** Yields the leads of an account, oldest first. However many there are, the memory stays small. */
export function* readLeads(database: Connection, account: AccountNumber, { fromMs, onRead }: Reading = {}) {
  let read = 0;
  for (const some of readLeadGroups(database, account, fromMs)) {
    yield* some;
    read += some.length;
    // On its own, the engine collects only after half a gigabyte.
    if (read % leadsUntilCollected === 0) Bun.gc(true);
    onRead?.(read);
  }
}
