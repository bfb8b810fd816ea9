/**
 * Writes into a cluster, one transaction at a time. Each leaves a random id, so that a write whose outcome nobody knows
 * can be sent again and goes in once. It is done when the file of the own node shows it.
 */
import { sql } from "drizzle-orm";
import { randomText } from "../../src/contract/random-text.ts";
import { WriteRefused } from "../../src/db/connection.ts";
import { revision, writes } from "../../src/db/schema.ts";
import { StoreError } from "../../src/store/errors.ts";
import { type LastWrite, lastWrite, readLastWrite } from "./last-write.ts";
import { type Write, waitForAll } from "./lease/wait-for-all.ts";
import { type LocalFile, openLocalFile } from "./local-file.ts";
import { openBlockingNode } from "./node/blocking.ts";
import { listMembersBlocking } from "./node/members.ts";
import { questionRequest, type RqliteNode, readValue, readWritten, type Statement, writeRequest } from "./node/node.ts";
import { statementOf } from "./node/statement.ts";
import { retry } from "./retry.ts";

/**
 * A cluster that has lost its leader has another one after a second or two, and a node that starts again is soon there. What
 * runs already, such as an import, waits long for that. A command that nobody has answered yet says sooner what is wrong.
 */
const patienceMs = { running: 30_000, unheard: 12_000, nobodyThere: 5_000 };
/** What follows so soon on a write that was given up, such as the record of what is done, is tried once. */
const givenUpForMs = 1_000;
/** What the first try of a write gets: a leader that stands still is given up soon where every node waits. */
const timeoutsMs = { urgent: 400, usual: 2_000 };
/** Between two looks at a file. */
const lookMs = 5;
/** The ids of this many last writes are kept, which are hours of an import. A number of hours would need a right clock. */
const rememberedWrites = 100_000;

export interface Writer extends Disposable {
  /** The file of the node beside. */
  readonly file: LocalFile;
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

/**
 * Why some work with the cluster failed; null where it did not. Throws where the node beside or the leader has not all, and
 * what is a mistake of our own.
 */
export function failureOf(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (cause) {
    if (cause instanceof WriteRefused) return cause.message;
    if (!(cause instanceof StoreError) || cause.problem.kind === "nodes differ") throw cause;
    return "reason" in cause.problem ? cause.problem.reason : cause.message;
  }
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

/** Adds one to what every node has to have heard of. */
const raise = statementOf(
  sql`INSERT INTO ${revision} (number, count) VALUES (1, 1) ON CONFLICT (number) DO UPDATE SET count = count + 1`,
);

/** What is deleted is written over. A node forgets it at each start, so that it goes with every write. */
const overwriting: Statement = { sql: "PRAGMA secure_delete = ON", json: "[]" };

/**
 * Writes beside the node whose file is at a path. `onSilent` hears the names of nodes that could not be asked, and that answer
 * nobody until they have caught up.
 */
export function openWriter(
  path: string,
  node: RqliteNode,
  onSilent: (names: readonly string[]) => void = () => {},
): Writer {
  const file = openLocalFile(path);
  const blocking = openBlockingNode();
  let wasHeard = false;
  /** When the last try to write was left without an answer. */
  let unansweredMs = Number.NEGATIVE_INFINITY;

  function patience(): { withinMs: number; unsentMs: number } {
    if (performance.now() - unansweredMs < givenUpForMs) return { withinMs: 0, unsentMs: 0 };
    if (wasHeard) return { withinMs: patienceMs.running, unsentMs: patienceMs.running };
    return { withinMs: patienceMs.unheard, unsentMs: patienceMs.nobodyThere };
  }

  /** Sends until it is in, or SQLite has refused it. */
  function send(statements: readonly Statement[], firstMs: number): void {
    retry({ firstMs, ...patience(), otherwise: "cluster not written" }, (timeoutMs) => {
      const answer = blocking.ask(writeRequest(node, statements, timeoutMs));
      const written = readWritten(answer);
      unansweredMs = written.kind === "unknown" ? performance.now() : Number.NEGATIVE_INFINITY;
      if (written.kind === "unknown") return { reason: written.reason, isSent: answer.isRefused !== true };
      wasHeard = true;
      // It was in already: the answer to an earlier try was lost.
      const isIn = written.kind === "done" || written.reason.includes("UNIQUE constraint failed: writes.id");
      if (!isIn) throw new WriteRefused(written.reason);
      return { result: undefined };
    });
  }

  /** Returns when the own file shows the write. */
  function commit(statements: readonly Statement[], timeoutMs = timeoutsMs.usual): Write {
    const id = randomText(20);
    const remembered = sql`INSERT INTO ${writes} (id) VALUES (${id})`;
    const forgotten = sql`DELETE FROM ${writes} WHERE number <= (SELECT max(number) FROM ${writes}) - ${rememberedWrites}`;
    send([overwriting, statementOf(remembered), statementOf(forgotten), ...statements], timeoutMs);
    const writtenMs = performance.now();
    waitForNumber(id);
    return { id, writtenMs };
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

  return {
    file,
    commit: (statements) => void commit(statements),
    commitEverywhere(statements) {
      const write = commit([...statements, raise], timeoutsMs.urgent);
      const silent = waitForAll(node, file, blocking, write);
      if (silent.length > 0) onSilent(silent);
    },
    nodeNames: () => listMembersBlocking(blocking, node).map(({ name }) => name),
    catchUp(withinMs) {
      const last = askLast(withinMs === undefined ? patience() : { withinMs, unsentMs: withinMs });
      if (last !== null && waitForNumber(last.id) !== last.number) throw new StoreError({ kind: "nodes differ" });
    },
    [Symbol.dispose]() {
      blocking.close();
      file[Symbol.dispose]();
    },
  };
}
