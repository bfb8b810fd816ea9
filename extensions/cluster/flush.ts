/**
 * Sends the outbox of a server to the cluster. The outcome of a transaction may be unknown, so it is sent again under the same
 * ID until the local file shows it, and is applied once. Until then its requests are also counted here, so that /usage is always
 * right.
 */
import { type SQL, sql } from "drizzle-orm";
import { windowMs } from "../../src/contract/limits.ts";
import type { KeyNumber } from "../../src/db/keys.ts";
import { beatMs, completeStatement, createClockWatch } from "../../src/privacy/sent/gaps.ts";
import { type Outbox, type OutboxPart, partStatements } from "../../src/privacy/sent/outbox.ts";
import type { ClusterDatabase } from "./database.ts";
import { transactionId } from "./transactions.ts";

/** The timeouts of a flush: a cluster may have no leader for a second or two. Only the last flush is not retried. */
const patienceMs = 2_000;
const lastMs = 5_000;
/** The maximum number of keys that a transaction names: enough to detect a load balancer that spreads each key over all nodes. */
const maxNamedKeys = 100;

type Database = Pick<ClusterDatabase, "apply" | "isShown" | "read">;

/** Creates the flush of the server of a node. */
export function createFlush(name: string, outbox: Outbox, database: Database, now: () => number) {
  const clockStatements = createClockWatch(name);
  /** The time of the last statement that showed that this server runs; null before it has begun. */
  let shownMs: number | null = null;
  /** The transaction whose outcome is not known yet. */
  let sending: ReturnType<typeof take> = null;
  let isMore = false;

  /** Takes what fits into one transaction; null if nothing is due. It stays in the outbox until it is dropped. */
  function take() {
    if (shownMs === null) return null;
    const nowMs = now();
    const part = outbox.next(nowMs);
    const statements = clockStatements(database.read, nowMs);
    if (part !== null) statements.push(...partStatements(database.read, part, name));
    // Without a part, the ledger is complete. Others have to see that this server runs.
    else if (nowMs - shownMs >= beatMs) statements.push(completeStatement(nowMs, name));
    if (statements.length === 0) return null;
    shownMs = nowMs;
    const id = transactionId();
    return { id, part, statements: [nameFlush(name, id, part?.keys ?? [], nowMs), ...statements] };
  }

  /** Drops what is being sent if the file shows it. Returns whether nothing is being sent. */
  function dropShown(): boolean {
    if (sending !== null && database.isShown(sending.id)) {
      isMore = sending.part !== null && outbox.drop(sending.part);
      sending = null;
    }
    return sending === null;
  }

  async function send(isLast: boolean): Promise<void> {
    do {
      sending ??= take();
      if (sending === null) return;
      await database.apply(sending.id, sending.statements, isLast ? lastMs : patienceMs);
      dropShown();
    } while (isLast || isMore);
  }

  return {
    /** Begins to send, and to show that this server runs. Call it when the server is registered. */
    begin: () => void (shownMs = now()),
    isBegun: () => shownMs !== null,
    of(key: KeyNumber, nowMs: number) {
      const isComplete = dropShown();
      const counts = outbox.of(key, nowMs);
      // If the file began to show the counts that are being sent, they were counted twice.
      return !isComplete && dropShown() ? outbox.of(key, nowMs) : counts;
    },
    /** Sends what is pending now. What could not be sent is sent again by the next call. */
    send: () => send(false),
    /** Sends until nothing is pending. What another call is sending is sent twice, and applied once. */
    finish: () => send(true),
  };
}

/** Records the last flush of a server, and the keys whose requests it has. */
function nameFlush(name: string, id: string, served: OutboxPart["keys"], nowMs: number): SQL {
  const keys = JSON.stringify(served.slice(0, maxNamedKeys).map(({ key }) => key));
  return sql`INSERT OR REPLACE INTO cluster_last_flushes (node, id, minute, keys)
    VALUES (${name}, ${id}, ${Math.floor(nowMs / windowMs)}, ${keys})`;
}
