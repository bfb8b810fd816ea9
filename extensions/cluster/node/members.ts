/** The nodes of a cluster, as the one beside knows them. */
import { ask, type NodeAnswer, type NodeRequest, type RqliteNode, requestTo, unreachableNode } from "./node.ts";

const timeoutMs = 3_000;
/**
 * A node keeps dozens of connections to the others. After a restart of the other each is found broken once, and the other is
 * said to be out of reach: so it is asked again until this time has passed.
 */
const patienceMs = 1_000;
const brokenConnection = /broken pipe|connection reset|EOF/;

export interface Member extends RqliteNode {
  readonly name: string;
  readonly isLeader: boolean;
  readonly isVoter: boolean;
  /** Whether the local node reaches it. If not, its address is unknown. */
  readonly isReachable: boolean;
}

/** A node as rqlite lists it. */
interface ListedNode {
  readonly id: string;
  readonly api_addr?: string;
  readonly leader?: boolean;
  readonly voter?: boolean;
  /** Why it could not be reached. */
  readonly error?: string;
}

/** All nodes, those included that have no vote. Throws DatabaseUnavailable if the node does not answer. */
export async function listMembers(node: RqliteNode): Promise<Member[]> {
  try {
    const endMs = performance.now() + patienceMs;
    let answer = await ask(membersRequest(node));
    while (hasBroken(answer) && performance.now() < endMs) answer = await ask(membersRequest(node));
    return readMembers(answer, node);
  } catch (cause) {
    throw unreachableNode(cause instanceof Error ? cause.message : "unknown");
  }
}

function membersRequest(node: RqliteNode): NodeRequest {
  return requestTo(node, "GET", "/nodes?nonvoters&ver=2&timeout=1s", null, timeoutMs);
}

function hasBroken(answer: NodeAnswer): boolean {
  return answer.status === 200 && readListed(answer).some(({ error }) => brokenConnection.test(error ?? ""));
}

function readListed({ status, text }: NodeAnswer): readonly ListedNode[] {
  if (status !== 200) throw new Error(text.trim() || `the node answered ${status}`);
  // So rqlite's reference promises.
  const { nodes }: { readonly nodes: readonly ListedNode[] } = JSON.parse(text);
  return nodes;
}

function readMembers(answer: NodeAnswer, { url, authorization }: RqliteNode): Member[] {
  const scheme = url.slice(0, url.indexOf("//"));
  return readListed(answer).map(({ id, api_addr: address = "", leader, voter }) => ({
    name: id,
    // A node that cannot be reached tells no address: asking it fails, as it should.
    url: address.includes("://") ? address : `${scheme}//${address || "0.0.0.0:1"}`,
    authorization,
    isLeader: leader === true,
    isVoter: voter === true,
    isReachable: address !== "",
  }));
}
