/**
 * Sends the usage counts and the record of disclosures to the cluster. The outcome of a transaction may be unknown, so each
 * one has a number: it can be sent again, and its counts are added once. They are also counted here until the local file
 * shows them, so that /usage is always right.
 */
import { sql } from "drizzle-orm";
import { windowMs } from "../../src/contract/limits.ts";
import type { KeyNumber } from "../../src/db/keys.ts";
import { usage } from "../../src/db/schema.ts";
import type { CountedUsage, UsagePart } from "../../src/db/usage.ts";
import { type DisclosurePart, disclosureStatements } from "../../src/privacy/disclosures/ledger.ts";
import type { createPendingPages } from "../../src/privacy/disclosures/pending-pages.ts";
import type { RqliteNode } from "./node.ts";
import { flushes, type Server } from "./tables.ts";
import { independentId, send } from "./transaction.ts";

/** The local file shows a part some milliseconds after it was committed, and a lagging one later. */
const maxShownMs = 2_000;
/** The keys whose pages one transaction records: to plan them takes some milliseconds, in which no request is answered. */
const maxKeysAtOnce = 20;
/** The number of keys that a part names: enough to notice a balancer that spreads each key over all nodes. */
const maxNamedKeys = 100;

/** The counts and the disclosures that are not sent yet. */
interface Pending {
  readonly usage: CountedUsage;
  readonly ledger: Pick<ReturnType<typeof createPendingPages<DisclosurePart>>, "next" | "drop">;
}

/** Creates the flush of a server. Parts are numbered from 1; `shown` returns the last one that the local file shows. */
export function createFlush(node: RqliteNode, server: Server, pending: Pending, shown: () => number) {
  let sequence = 0;
  let leaving: UsagePart | null = null;
  let sending: Promise<void> | null = null;
  let isMoreCounted = false;
  const disclosures = new Map<number, DisclosurePart>();

  /** Drops the part that is being sent if the file shows it. Returns whether no part is being sent. */
  function dropShown(): boolean {
    if (leaving !== null && shown() >= sequence) {
      isMoreCounted = pending.usage.drop(leaving);
      leaving = null;
    }
    return leaving === null;
  }

  /** The part that is being sent, or the next one; null if there is none. */
  function next(): UsagePart | null {
    if (leaving !== null) return leaving;
    leaving = pending.usage.next();
    if (leaving !== null) sequence++;
    return leaving;
  }

  /**
   * Sends what is pending when it begins, or all until nothing is pending. A transaction has as much as it can: each one empties
   * SQLite's cache of the file on all nodes.
   */
  async function sendPending(isAll: boolean): Promise<void> {
    for (let isMore = true; isMore; ) {
      const part = next();
      planPages(pending.ledger, disclosures);
      if (part === null && disclosures.size === 0) return;
      const counts = part === null ? [] : statementsOf(server, sequence, part, Date.now());
      // The statements of disclosures are idempotent.
      await send(node, independentId(), [...counts, ...[...disclosures.values()].flatMap(disclosureStatements)]);
      isMore = isAll || disclosures.size === maxKeysAtOnce;
      disclosures.clear();
      await until(dropShown);
      isMore ||= isMoreCounted;
    }
  }

  return {
    of(key: KeyNumber, nowMs: number) {
      for (;;) {
        const before = shown();
        dropShown();
        const counts = pending.usage.of(key, nowMs);
        // If the file has come to show the part in between, it was counted twice.
        if (shown() === before) return counts;
      }
    },
    /** Begins to send what is pending, unless it is being sent. */
    begin(isAll = false): void {
      sending ??= sendPending(isAll).finally(() => {
        sending = null;
      });
      // `settle` reports it.
      sending.catch(() => {});
    },
    /** Resolves when nothing is being sent. Throws if a part could not be sent, which is sent again by the next flush. */
    settle: async (): Promise<void> => void (await sending),
  };
}

async function until(isShown: () => boolean): Promise<void> {
  for (const endMs = performance.now() + maxShownMs; !isShown(); await Bun.sleep(10)) {
    if (performance.now() > endMs) throw new Error("the local node does not show the counts");
  }
}

/** Adds plans of pages to those that are not sent yet, by key. A plan does not know an earlier one of the same key. */
function planPages(ledger: Pending["ledger"], plans: Map<number, DisclosurePart>): void {
  for (let part = ledger.next(); part !== null && !plans.has(part.key); part = ledger.next()) {
    if (plans.size === maxKeysAtOnce) return;
    plans.set(part.key, part);
    ledger.drop();
  }
}

/** The statements of one part: the counts are added if its number is new, and the number is stored with them. */
function statementsOf({ name, process }: Server, sequence: number, { day, counts }: UsagePart, nowMs: number) {
  const minute = Math.floor(nowMs / windowMs);
  const keys = JSON.stringify(counts.slice(0, maxNamedKeys).map(([key]) => key));
  const before = sql`CASE WHEN minute = ${minute} THEN keys ELSE '[]' END`;
  const named = sql`SELECT value FROM json_each(${before}) UNION SELECT value FROM json_each(${keys}) LIMIT ${maxNamedKeys}`;
  const stored = sql`(SELECT ${flushes.sequence} FROM ${flushes} WHERE ${flushes.node} = ${name})`;
  return [
    sql`INSERT INTO ${flushes} (node, process, sequence, minute, keys) VALUES (${name}, ${process}, 0, 0, '[]')
        ON CONFLICT (node) DO UPDATE SET process = excluded.process, sequence = 0 WHERE process <> excluded.process`,
    sql`INSERT INTO ${usage} (key, day, requests)
        SELECT value ->> 0, ${day}, value ->> 1 FROM json_each(${JSON.stringify(counts)}) WHERE ${stored} < ${sequence}
        ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`,
    sql`UPDATE ${flushes} SET sequence = max(sequence, ${sequence}), minute = ${minute},
          keys = (SELECT json_group_array(value) FROM (${named})) WHERE node = ${name} AND process = ${process}`,
  ];
}
