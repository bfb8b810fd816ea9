/** The nodes of a cluster, as the one beside knows them. */
import { StoreError } from "../../store/errors.ts";
import type { BlockingNode } from "./blocking.ts";
import { ask, type NodeAnswer, type NodeRequest, type RqliteNode, requestTo } from "./node.ts";

const timeoutMs = 3_000;

interface Member extends RqliteNode {
  readonly name: string;
  readonly isLeader: boolean;
  readonly isVoter: boolean;
}

/** A node as rqlite lists it. */
interface ListedNode {
  readonly id: string;
  readonly api_addr?: string;
  readonly leader?: boolean;
  readonly voter?: boolean;
}

/** All nodes, those included that have no vote. Throws a StoreError where the node does not say. */
export async function listMembers(node: RqliteNode): Promise<Member[]> {
  const answer = await ask(membersRequest(node));
  try {
    return readMembers(answer, node);
  } catch (cause) {
    throw new StoreError({ kind: "node silent", reason: cause instanceof Error ? cause.message : "unknown" });
  }
}

/** The same for a command that waits. Throws where the node does not say. */
export function listMembersBlocking(blocking: BlockingNode, node: RqliteNode): Member[] {
  return readMembers(blocking.ask(membersRequest(node)), node);
}

function membersRequest(node: RqliteNode): NodeRequest {
  return requestTo(node, "GET", "/nodes?nonvoters&ver=2&timeout=1s", null, timeoutMs);
}

function readMembers({ status, text }: NodeAnswer, { url, authorization }: RqliteNode): Member[] {
  if (status !== 200) throw new Error(text.trim() || `the node answered ${status}`);
  // So rqlite's reference promises.
  const { nodes }: { readonly nodes: readonly ListedNode[] } = JSON.parse(text);
  const scheme = url.slice(0, url.indexOf("//"));
  return nodes.map(({ id, api_addr: address = "", leader, voter }) => ({
    name: id,
    // A node that cannot be reached tells no address: asking it fails, as it should.
    url: address.includes("://") ? address : `${scheme}//${address || "0.0.0.0:1"}`,
    authorization,
    isLeader: leader === true,
    isVoter: voter === true,
  }));
}
