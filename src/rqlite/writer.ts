/**
 * Writing into a cluster, a transaction at a time. A write whose outcome nobody knows is sent again, and goes in once: it
 * leaves a random id in the same transaction. It is done when the file of the own node shows it.
 */
import { sql } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import { nodes, revision, writes } from "../sqlite/schema.ts";
import { StoreError } from "../store/errors.ts";
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

/** A cluster that has lost its leader has another one after a second or two. */
const patienceMs = 30_000;
/** A leader that stands still is given up soon; a large write on a busy machine gets more time with each try. */
const timeoutsMs = { urgent: 400, first: 2_000, longest: 10_000 };
/** Between two looks at a file, or two tries. */
const lookMs = 5;
const pauseMs = 100;
/** So long a write is known by its id; nothing is sent again for that long. */
const rememberedMs = 86_400_000;

/** SQLite has rolled the transaction back: something in it did not fit what was there. */
export class WriteRefused extends Error {
  override readonly name = "WriteRefused";
}

export interface Writer {
  /** Writes all statements or none. Throws WriteRefused, or a StoreError where no majority took it. */
  commit(statements: readonly Statement[]): void;
  /** The same for what must hold at once: it returns when every node shows it, or answers nobody any more. */
  commitEverywhere(statements: readonly Statement[]): void;
  /** Returns when the own file shows all that any node has written until now. Throws a StoreError where no majority is heard. */
  catchUp(withinMs?: number): void;
  /** The names of all nodes. */
  nodeNames(): string[];
}

export interface WriterSetup {
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

/** The id of the last write. The numbers of the rows go up, and stay in their order whatever a node does to its file. */
const lastWrite = statementOf(sql`SELECT id FROM ${writes} ORDER BY rowid DESC LIMIT 1`);

/** What is deleted is written over. A node forgets it at each start, so that it goes with every write. */
const overwriting: Statement = { sql: "PRAGMA secure_delete = ON", json: "[]" };

export function openWriter({ node, blocking, file, onSilent }: WriterSetup): Writer {
  /** Sends until it is in, or SQLite has refused it. */
  function send(statements: readonly Statement[], firstTimeoutMs: number): void {
    const endMs = performance.now() + patienceMs;
    for (let timeoutMs = firstTimeoutMs; ; timeoutMs = Math.min(timeoutsMs.longest, timeoutMs * 1.5)) {
      const written = readWritten(blocking.ask(writeRequest(node, statements, timeoutMs)));
      if (written.kind === "done") return;
      // It was in already: the answer to an earlier try was lost.
      if (written.kind === "refused" && written.reason.includes("writes.id")) return;
      if (written.kind === "refused") throw new WriteRefused(written.reason);
      if (performance.now() > endMs) throw new StoreError({ kind: "cluster not written", reason: written.reason });
      Bun.sleepSync(pauseMs);
    }
  }

  /** Gives the moment, on the monotonic clock, at which the write was in for sure. */
  function commit(statements: readonly Statement[], timeoutMs = timeoutsMs.first): number {
    const id = randomText(20);
    const nowMs = Date.now();
    const remembered = sql`INSERT INTO ${writes} (id, at) VALUES (${id}, ${nowMs})`;
    const forgotten = sql`DELETE FROM ${writes} WHERE at < ${nowMs - rememberedMs}`;
    send([overwriting, statementOf(remembered), statementOf(forgotten), ...statements], timeoutMs);
    const writtenMs = performance.now();
    waitFor(() => isShown(id));
    return writtenMs;
  }

  /** The id of the last write of the cluster; undefined where it remembers none. */
  function askLast(withinMs: number): unknown {
    const endMs = performance.now() + withinMs;
    for (let timeoutMs: number = timeoutsMs.urgent; ; timeoutMs = Math.min(timeoutsMs.longest, timeoutMs * 1.5)) {
      try {
        return readValue(blocking.ask(questionRequest(node, lastWrite, "linearizable", timeoutMs)));
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : "unknown";
        if (performance.now() > endMs) throw new StoreError({ kind: "cluster not heard", reason });
      }
      Bun.sleepSync(pauseMs);
    }
  }

  function isShown(id: unknown): boolean {
    return file.current().values(sql`SELECT 1 FROM ${writes} WHERE id = ${id}`).length > 0;
  }

  function waitFor(isSo: () => boolean): void {
    const endMs = performance.now() + patienceMs;
    for (;;) {
      try {
        if (isSo()) return;
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
    catchUp(withinMs = patienceMs) {
      const last = askLast(withinMs);
      if (last !== undefined) waitFor(() => isShown(last));
    },
  };
}
