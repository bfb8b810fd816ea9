/**
 * Writes into a cluster, one transaction at a time. Each leaves a random id, so that a write whose outcome nobody knows
 * can be sent again and goes in once. It is done when the file of the own node shows it.
 */
import { sql } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import { nodes, revision, writes } from "../sqlite/schema.ts";
import { StoreError } from "../store/errors.ts";
import { type LastWrite, lastWrite, readLastWrite } from "./last-write.ts";
import { revisionQuestion } from "./lease/keep-lease.ts";
import { clockMarginMs, leaseMs } from "./lease/lease.ts";
import type { LocalFile } from "./local-file.ts";
import type { BlockingNode } from "./node/blocking.ts";
import { listMembersBlocking } from "./node/members.ts";
import {
  questionRequest,
  type RqliteNode,
  readNumber,
  readValue,
  readWritten,
  type Statement,
  writeRequest,
} from "./node/node.ts";
import { statementOf } from "./node/statement.ts";
import { retry } from "./retry.ts";

/**
 * A cluster that has lost its leader has another one after a second or two, and a node that starts again is soon there. What
 * runs already, such as an import, waits long for that. A command that nobody has answered yet says sooner what is wrong.
 */
const patienceMs = { running: 30_000, unheard: 12_000, nobodyThere: 5_000 };
/** What the first try of a write gets: a leader that stands still is given up soon where every node waits. */
const timeoutsMs = { urgent: 400, usual: 2_000 };
/** Between two looks at a file. */
const lookMs = 5;
/** So long a write is known by its id; nothing is sent again for that long. */
const rememberedMs = 86_400_000;

/** SQLite has rolled the transaction back: something in it did not fit what was there. */
class WriteRefused extends Error {
  override readonly name = "WriteRefused";
}

export interface Writer {
  /** Writes all statements or none. Throws WriteRefused, or a StoreError where no majority took it. */
  commit(statements: readonly Statement[]): void;
  /** The same for what must hold at once: it returns when every node shows it, or answers nobody any more. */
  commitEverywhere(statements: readonly Statement[]): void;
  /**
   * Returns when the own file shows all that any node has written until now. Throws a StoreError where no majority is heard,
   * and where the node beside or the leader lacks some of it.
   */
  catchUp(withinMs?: number): void;
  /** The names of all nodes. */
  nodeNames(): string[];
}

/** Whether a write went in. Where SQLite refused it, the own file shows by then what others have written. */
export function wentIn({ catchUp }: Pick<Writer, "catchUp">, write: () => void): boolean {
  try {
    write();
    return true;
  } catch (cause) {
    if (!(cause instanceof WriteRefused)) throw cause;
    catchUp();
    return false;
  }
}

interface WriterSetup {
  readonly node: RqliteNode;
  readonly blocking: BlockingNode;
  readonly file: LocalFile;
  /** Hears the names of nodes that could not be asked, and that answer nobody until they have caught up. */
  readonly onSilent: (names: readonly string[]) => void;
}

/** Adds one to what every node has to have heard of. */
const raise = statementOf(
  sql`INSERT INTO ${revision} (number, count) VALUES (1, 1) ON CONFLICT (number) DO UPDATE SET count = count + 1`,
);

/** What is deleted is written over. A node forgets it at each start, so that it goes with every write. */
const overwriting: Statement = { sql: "PRAGMA secure_delete = ON", json: "[]" };

export function openWriter({ node, blocking, file, onSilent }: WriterSetup): Writer {
  let wasHeard = false;

  const patience = () => ({
    withinMs: wasHeard ? patienceMs.running : patienceMs.unheard,
    unsentMs: wasHeard ? patienceMs.running : patienceMs.nobodyThere,
  });

  /** Sends until it is in, or SQLite has refused it. */
  function send(statements: readonly Statement[], firstMs: number): void {
    retry({ firstMs, ...patience(), otherwise: "cluster not written" }, (timeoutMs) => {
      const answer = blocking.ask(writeRequest(node, statements, timeoutMs));
      const written = readWritten(answer);
      if (written.kind === "unknown") return { reason: written.reason, isSent: answer.isRefused !== true };
      wasHeard = true;
      // It was in already: the answer to an earlier try was lost.
      const isIn = written.kind === "done" || written.reason.includes("writes.id");
      if (!isIn) throw new WriteRefused(written.reason);
      return { result: undefined };
    });
  }

  /** Gives the moment, on the monotonic clock, at which the write was in for sure. */
  function commit(statements: readonly Statement[], timeoutMs = timeoutsMs.usual): number {
    const id = randomText(20);
    const nowMs = Date.now();
    const remembered = sql`INSERT INTO ${writes} (id, at) VALUES (${id}, ${nowMs})`;
    const forgotten = sql`DELETE FROM ${writes} WHERE at < ${nowMs - rememberedMs}`;
    send([overwriting, statementOf(remembered), statementOf(forgotten), ...statements], timeoutMs);
    const writtenMs = performance.now();
    waitForNumber(id);
    return writtenMs;
  }

  /** The last write of the cluster; null where it remembers none. */
  function askLast(within: { readonly withinMs: number; readonly unsentMs: number }): LastWrite | null {
    return retry({ firstMs: timeoutsMs.urgent, ...within, otherwise: "cluster not heard" }, (timeoutMs) => {
      const answer = blocking.ask(questionRequest(node, statementOf(lastWrite), "linearizable", timeoutMs));
      try {
        const result = readLastWrite(readValue(answer));
        wasHeard = true;
        return { result };
      } catch (cause) {
        return { reason: cause instanceof Error ? cause.message : "unknown", isSent: answer.isRefused !== true };
      }
    });
  }

  /** The number that the own file has for a write, once it shows it. */
  function waitForNumber(id: string): number {
    const endMs = performance.now() + patienceMs.running;
    for (;;) {
      try {
        const number = file.numberOf(id);
        if (number !== undefined) return number;
      } catch {
        // The node is at work on its file.
      }
      if (performance.now() > endMs) throw new StoreError({ kind: "node behind" });
      Bun.sleepSync(lookMs);
    }
  }

  /** Waits until each node shows the count, or until the lease is over that it may have had when the write was in. */
  function waitForAll(count: number, writtenMs: number): void {
    const endMs = writtenMs + leaseMs + clockMarginMs;
    const members = new Map(listMembersBlocking(blocking, node).map((member) => [member.name, member]));
    // Only servers that were known before the write are waited for. A later one has asked the majority since.
    let silent = file.current().select({ name: nodes.name }).from(nodes).all();
    while (silent.length > 0 && performance.now() < endMs) {
      silent = silent.filter(({ name }) => !shows(members.get(name), count, endMs));
      if (silent.length > 0) Bun.sleepSync(lookMs);
    }
    if (silent.length > 0) onSilent(silent.map(({ name }) => name));
  }

  function shows(one: RqliteNode | undefined, count: number, endMs: number): boolean {
    if (one === undefined) return false;
    const timeMs = Math.max(1, Math.min(500, endMs - performance.now()));
    try {
      return readNumber(blocking.ask(questionRequest(one, revisionQuestion, "none", timeMs))) >= count;
    } catch {
      return false;
    }
  }

  return {
    commit: (statements) => void commit(statements),
    commitEverywhere(statements) {
      const writtenMs = commit([...statements, raise], timeoutsMs.urgent);
      waitForAll(file.revision(), writtenMs);
    },
    nodeNames: () => listMembersBlocking(blocking, node).map(({ name }) => name),
    catchUp(withinMs) {
      const last = askLast(withinMs === undefined ? patience() : { withinMs, unsentMs: withinMs });
      if (last !== null && waitForNumber(last.id) !== last.number) throw new StoreError({ kind: "nodes differ" });
    },
  };
}
