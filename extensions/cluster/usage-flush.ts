/**
 * Counts of usage on their way into a cluster. Nobody may know what became of a part that was sent. So each part has a
 * number: it can be sent again, and is added once. It is counted here until the own file shows it, so /usage is right in
 * between.
 */
import { sql } from "drizzle-orm";
import { windowMs } from "../../src/contract/limits.ts";
import { usage } from "../../src/db/schema.ts";
import type { KeyNumber } from "../../src/db/serving.ts";
import type { CountedUsage, Flushed, UsagePart } from "../../src/db/usage-counter.ts";
import type { RqliteNode, Statement } from "./node/node.ts";
import { statementOf } from "./node/statement.ts";
import { flushes } from "./tables.ts";
import { sendTransaction } from "./transaction.ts";

const timeoutMs = 2_000;
/** A part names this many of its keys: enough to notice a balancer that spreads each key over all nodes. */
const toldKeys = 100;
/** Between two looks at the own file, which shows a part some milliseconds after it was taken. */
const lookMs = 10;

/** The name of this server, and one that no process has had before: its parts are numbered from 1. */
interface Sender {
  readonly name: string;
  readonly process: string;
}

/** `shown` is the number of the last part of this process that the own file shows. */
export function createFlusher(node: RqliteNode, sender: Sender, counted: CountedUsage, shown: () => number) {
  let sequence = 0;
  let leaving: UsagePart | null = null;
  let sending: Promise<void> | null = null;

  /** Drops the part that is on its way, once the file has it. Says whether nothing is on its way. */
  function dropShown(): boolean {
    if (leaving !== null && shown() >= sequence) {
      counted.drop(leaving);
      leaving = null;
    }
    return leaving === null;
  }

  /** The part that is on its way still, or the next one; null when there is none. */
  function next(): UsagePart | null {
    if (leaving !== null) return leaving;
    leaving = counted.next();
    if (leaving !== null) sequence++;
    return leaving;
  }

  async function send(): Promise<void> {
    for (let part = next(); part !== null; part = next()) {
      const statements = flushOf(sender, { ...part, sequence, nowMs: Date.now() });
      await sendTransaction(node, `${sender.process}-${sequence}`, statements, timeoutMs);
      const endMs = performance.now() + timeoutMs;
      while (!dropShown()) {
        if (performance.now() > endMs) throw new Error("the own node has not shown the counts in time");
        await Bun.sleep(lookMs);
      }
    }
  }

  return {
    count: counted.count,
    of(key: KeyNumber, nowMs: number) {
      for (;;) {
        const before = shown();
        dropShown();
        const counts = counted.of(key, nowMs);
        // Where the file has come to show the part meanwhile, it was counted here and there.
        if (shown() === before) return counts;
      }
    },
    /** Sends what was counted, unless a part is on its way. */
    flush(): Flushed {
      if (sending !== null) return "done";
      sending = send().finally(() => {
        sending = null;
      });
      // Whoever settles hears of it.
      sending.catch(() => {});
      return "done";
    },
    /** Resolves when nothing is on its way any more; throws where a part could not be brought in. It is sent again then. */
    settle: async (): Promise<void> => {
      await sending;
    },
  };
}

interface NumberedPart extends UsagePart {
  readonly sequence: number;
  readonly nowMs: number;
}

/** The statements of one part: the counts are added where this number is new, and the number is kept with them. */
function flushOf({ name, process }: Sender, { day, counts, sequence, nowMs }: NumberedPart): Statement[] {
  const minute = Math.floor(nowMs / windowMs);
  const now = JSON.stringify(counts.slice(0, toldKeys).map(([key]) => key));
  const before = sql`CASE WHEN minute = ${minute} THEN keys ELSE '[]' END`;
  const told = sql`SELECT value FROM json_each(${before}) UNION SELECT value FROM json_each(${now}) LIMIT ${toldKeys}`;
  const known = sql`(SELECT ${flushes.sequence} FROM ${flushes} WHERE ${flushes.node} = ${name})`;
  return [
    sql`INSERT INTO ${flushes} (node, process, sequence) VALUES (${name}, ${process}, 0)
        ON CONFLICT (node) DO UPDATE SET process = excluded.process, sequence = 0 WHERE process <> excluded.process`,
    sql`INSERT INTO ${usage} (key, day, requests)
        SELECT value ->> 0, ${day}, value ->> 1 FROM json_each(${JSON.stringify(counts)}) WHERE ${known} < ${sequence}
        ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`,
    sql`UPDATE ${flushes} SET sequence = max(sequence, ${sequence}), minute = ${minute},
          keys = (SELECT json_group_array(value) FROM (${told})) WHERE node = ${name} AND process = ${process}`,
  ].map(statementOf);
}
