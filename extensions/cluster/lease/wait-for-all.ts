/** Waits for the other nodes after a write that must hold on all of them at once, such as a revocation. */
import { sql } from "drizzle-orm";
import { listMembers, type Member } from "../members.ts";
import { query, type RqliteNode, statementOf } from "../node.ts";
import type { NodeFile } from "../node-file.ts";
import { nodes, writes } from "../tables.ts";
import { clockMarginMs, leaseMs } from "./lease.ts";

/** The time between two looks at all nodes. */
const lookMs = 5;
const listEveryMs = 1_000;
/** A majority that has received a write applies it sooner, unless the disks of several nodes are full. */
const maxApplyMs = 30_000;

/**
 * Waits until each node shows a transaction. A node that cannot be asked is waited for until any lease has ended that began
 * before a majority showed the transaction. Returns the names of these nodes.
 */
export async function waitForAll(
  node: RqliteNode,
  file: NodeFile,
  id: string,
  listed: readonly Member[] | null,
): Promise<string[]> {
  const members = new Map<string, Member>();
  // rqlite does not give the address of a node that it cannot reach at the moment.
  function add(listing: readonly Member[]): void {
    for (const member of listing) {
      if (member.isReachable || !members.has(member.name)) members.set(member.name, member);
    }
  }

  add(listed ?? (await listMembers(node)));
  const question = statementOf(sql`SELECT count(*) FROM ${writes} WHERE id = ${id}`);
  const voters = [...members.values()].filter(({ isVoter }) => isVoter).map(({ name }) => name);
  // A server without a row yet has asked the majority since the write. Webhooks are received under a lease as well, on a node
  // that may never have had a server.
  const servers = file.current().connection.select({ name: nodes.name }).from(nodes).all();
  const missing = new Set([...members.keys(), ...servers.map(({ name }) => name)]);
  let endMs = performance.now() + maxApplyMs;
  let isKnownToMajority = false;

  async function shows(name: string): Promise<boolean> {
    const member = members.get(name);
    if (member === undefined) return false;
    const timeoutMs = Math.max(1, Math.min(500, endMs - performance.now()));
    try {
      return Number(await query(member, question, "none", timeoutMs)) > 0;
    } catch {
      return false;
    }
  }

  async function waitFor(name: string): Promise<void> {
    while (!(await shows(name))) {
      if (performance.now() > endMs) return;
      await Bun.sleep(lookMs);
    }
    missing.delete(name);
    // The lease of a node ends if it does not hear from a majority, and a node of this majority tells it of the write.
    if (isKnownToMajority || voters.filter((voter) => !missing.has(voter)).length * 2 <= voters.length) return;
    isKnownToMajority = true;
    endMs = performance.now() + leaseMs + clockMarginMs;
  }

  const listing = setInterval(() => void listMembers(node).then(add, () => {}), listEveryMs);
  await Promise.all([...missing].map(waitFor));
  clearInterval(listing);
  return [...missing];
}
