/** Waits for the other nodes behind a write that must hold on all of them at once, such as a revocation. */
import { sql } from "drizzle-orm";
import { nodes, writes } from "../../../src/db/schema.ts";
import type { LocalFile } from "../local-file.ts";
import type { BlockingNode } from "../node/blocking.ts";
import { listMembersBlocking } from "../node/members.ts";
import { questionRequest, type RqliteNode, readNumber } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import { clockMarginMs, leaseMs } from "./lease.ts";

/** Between two looks at all nodes. */
const lookMs = 5;

/** A write by its id, and a moment on the monotonic clock at which it was in for sure. */
export interface Write {
  readonly id: string;
  readonly writtenMs: number;
}

/**
 * Waits until each node shows a write, or until the lease is over that it may have had when the write was in. Gives the names
 * of those that could not be asked.
 */
export function waitForAll(node: RqliteNode, file: LocalFile, blocking: BlockingNode, write: Write): string[] {
  const endMs = write.writtenMs + leaseMs + clockMarginMs;
  const members = new Map(listMembersBlocking(blocking, node).map((member) => [member.name, member]));
  const question = statementOf(sql`SELECT count(*) FROM ${writes} WHERE id = ${write.id}`);

  function shows(one: RqliteNode | undefined): boolean {
    if (one === undefined) return false;
    const timeMs = Math.max(1, Math.min(500, endMs - performance.now()));
    try {
      return readNumber(blocking.ask(questionRequest(one, question, "none", timeMs))) > 0;
    } catch {
      return false;
    }
  }

  // A server that is not known here yet has asked the majority since the write.
  const servers = file.current().select({ name: nodes.name }).from(nodes).all();
  // What takes deliveries beside a node has a lease, too, where no server may ever have run.
  let silent = [...new Set([...members.keys(), ...servers.map(({ name }) => name)])];
  while (silent.length > 0 && performance.now() < endMs) {
    silent = silent.filter((name) => !shows(members.get(name)));
    if (silent.length > 0) Bun.sleepSync(lookMs);
  }
  return silent;
}
