/** The nodes of a cluster, as the one beside knows them. */
import type { BlockingNode } from "./blocking.ts";
import { type NodeAnswer, type RqliteNode, requestTo } from "./node.ts";

const timeoutMs = 3_000;

export interface Member extends RqliteNode {
  readonly name: string;
  readonly leads: boolean;
  readonly votes: boolean;
  readonly isReachable: boolean;
}

interface ListedPerson {
  readonly id: string;
  readonly api_addr?: string;
  readonly leader?: boolean;
  readonly voter?: boolean;
  readonly reachable?: boolean;
}

/** All nodes, those included that have no vote. Throws where the node does not say. */
export function listNodes(blocking: BlockingNode, node: RqliteNode): Member[] {
  return readMembers(blocking.ask(requestTo(node, "GET", "/nodes?nonvoters&ver=2&timeout=1s", null, timeoutMs)), node);
}

/** Reads what a node answered when it was asked for all of them. */
export function readMembers({ status, text }: NodeAnswer, { url, authorization }: RqliteNode): Member[] {
  if (status !== 200) throw new Error(text.trim() || `the node answered ${status}`);
  // So rqlite's reference promises.
  const { nodes }: { readonly nodes: readonly ListedPerson[] } = JSON.parse(text);
  const scheme = url.slice(0, url.indexOf("//"));
  return nodes.map(({ id, api_addr: address = "", leader, voter, reachable }) => ({
    name: id,
    // A node that cannot be reached tells no address: asking it fails, as it should.
    url: address.includes("://") ? address : `${scheme}//${address || "0.0.0.0:1"}`,
    authorization,
    leads: leader === true,
    votes: voter === true,
    isReachable: reachable === true,
  }));
}
