/**
 * Sends the usage counts and the ledger of what was sent to the cluster. The outcome of a transaction may be unknown, so it is
 * sent again under the same ID until the local file shows it, and is applied once. Until then its counts are also counted
 * here, so that /usage is always right.
 */
import { type SQL, sql } from "drizzle-orm";
import { windowMs } from "../../src/contract/limits.ts";
import type { KeyNumber } from "../../src/db/keys.ts";
import type { Outbox, OutboxPart } from "../../src/privacy/sent/outbox.ts";
import type { ClusterDatabase } from "./database.ts";
import type { NodeLedger } from "./node-ledger.ts";
import { flushes } from "./tables.ts";
import { transactionId } from "./transaction.ts";

/** A cluster may be without a leader for a second or two. The next flush tries again, but not the last one. */
const patienceMs = 2_000;
const lastMs = 5_000;
/** The number of keys that a transaction names: enough to notice a balancer that spreads each key over all nodes. */
const maxNamedKeys = 100;

/** The outbox of the server, and its ledger. */
interface Pending {
  readonly outbox: Outbox;
  readonly ledger: Pick<NodeLedger, "statements">;
}

type Transactions = Pick<ClusterDatabase, "apply" | "isShown">;

/** Creates the flush of the server next to a node. */
export function createFlush(name: string, pending: Pending, { apply, isShown }: Transactions, now: () => number) {
  let leaving: ReturnType<typeof takePart> = null;
  let sending: Promise<void> | null = null;
  let isMore = false;
  const { outbox } = pending;

  /** Drops what is being sent if the file shows it. Returns whether nothing is being sent. */
  function dropShown(): boolean {
    if (leaving !== null && isShown(leaving.id)) {
      isMore = leaving.part !== null && outbox.drop(leaving.part);
      leaving = null;
    }
    return leaving === null;
  }

  /**
   * Sends what is pending when it begins, or all until nothing is pending. A transaction has as much as it can: each one empties
   * SQLite's cache of the file on all nodes.
   */
  async function sendPending(isAll: boolean): Promise<void> {
    do {
      leaving ??= takePart(name, pending, now());
      if (leaving === null) return;
      const { id, statements } = leaving;
      await apply(id, statements, isAll ? lastMs : patienceMs);
      dropShown();
    } while (isAll || isMore);
  }

  return {
    of(key: KeyNumber, nowMs: number) {
      const isComplete = dropShown();
      const counts = outbox.of(key, nowMs);
      // If the file has come to show the counts that are being sent, they were counted twice.
      return !isComplete && dropShown() ? outbox.of(key, nowMs) : counts;
    },
    /** Begins to send what is pending, unless it is being sent. */
    begin(): void {
      sending ??= sendPending(false).finally(() => {
        sending = null;
      });
      // `fsync` reports it.
      sending.catch(() => {});
    },
    /** Resolves when nothing is being sent. Throws if something could not be sent; the next flush sends it again. */
    fsync: async (): Promise<void> => void (await sending),
    /** Sends all that is left. What is being sent may have begun before the last request. */
    async finish(): Promise<void> {
      // `fsync` reports a failure. What was not sent is still pending, and is sent now.
      await sending?.catch(() => {});
      await sendPending(true);
    },
  };
}

/** Returns what fits into one transaction; null if nothing is pending. It stays in the outbox until it is dropped. */
function takePart(name: string, { outbox, ledger }: Pending, nowMs: number) {
  const part = outbox.next(nowMs);
  const ofLedger = ledger.statements(part);
  if (part === null && ofLedger.length === 0) return null;
  const id = transactionId();
  return { id, part, statements: [nameFlush(name, id, part?.keys ?? [], nowMs), ...ofLedger] };
}

/** Records the last flush of a server, and adds its keys to those that the server has served in this minute. */
function nameFlush(name: string, id: string, served: OutboxPart["keys"], nowMs: number): SQL {
  const minute = Math.floor(nowMs / windowMs);
  const keys = JSON.stringify(served.slice(0, maxNamedKeys).map(({ key }) => key));
  const before = sql`CASE WHEN minute = excluded.minute THEN keys ELSE '[]' END`;
  const all = sql`SELECT value FROM json_each(${before}) UNION SELECT value FROM json_each(excluded.keys) LIMIT ${maxNamedKeys}`;
  return sql`INSERT INTO ${flushes} (node, id, minute, keys) VALUES (${name}, ${id}, ${minute}, ${keys})
    ON CONFLICT (node) DO UPDATE SET id = excluded.id, minute = excluded.minute, keys = (SELECT json_group_array(value) FROM (${all}))`;
}
