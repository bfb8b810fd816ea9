/** Waits for the other nodes behind a write that must hold on all of them at once, such as a revocation. */
import { nodes } from "../../sqlite/schema.ts";
import type { LocalFile } from "../local-file.ts";
import type { BlockingNode } from "../node/blocking.ts";
import { listMembersBlocking } from "../node/members.ts";
import { questionRequest, type RqliteNode, readNumber } from "../node/node.ts";
import { revisionQuestion } from "./keep-lease.ts";
import { clockMarginMs, leaseMs } from "./lease.ts";

/** Between two looks at all nodes. */
const lookMs = 5;

/**
 * Waits until each node shows what the own file shows, or until the lease is over that it may have had when the write was
 * in. Gives the names of those that could not be asked.
 */
export function waitForAll(node: RqliteNode, file: LocalFile, blocking: BlockingNode, writtenMs: number): string[] {
  const count = file.revision();
  const endMs = writtenMs + leaseMs + clockMarginMs;
  const members = new Map(listMembersBlocking(blocking, node).map((member) => [member.name, member]));

  function shows(one: RqliteNode | undefined): boolean {
    if (one === undefined) return false;
    const timeMs = Math.max(1, Math.min(500, endMs - performance.now()));
    try {
      return readNumber(blocking.ask(questionRequest(one, revisionQuestion, "none", timeMs))) >= count;
    } catch {
      return false;
    }
  }

  // Only servers that were known before the write are waited for. A later one has asked the majority since.
  let silent = file.current().select({ name: nodes.name }).from(nodes).all();
  while (silent.length > 0 && performance.now() < endMs) {
    silent = silent.filter(({ name }) => !shows(members.get(name)));
    if (silent.length > 0) Bun.sleepSync(lookMs);
  }
  return silent.map(({ name }) => name);
}
