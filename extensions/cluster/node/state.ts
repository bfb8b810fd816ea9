/** The state of a node, as it tells it. */
import { ask, type RqliteNode, requestTo } from "./node.ts";

const timeoutMs = 3_000;

/** What a node tells of itself, as far as it is read here. */
export interface NodeState {
  readonly build?: { readonly version?: string };
  readonly store?: {
    readonly node_id?: string;
    readonly snapshot_interval?: string;
    readonly heartbeat_timeout?: string;
    readonly sqlite3?: { readonly last_modified?: string };
    readonly db_conf?: { readonly fk_constraints?: boolean };
    readonly raft?: { readonly commit_index?: number; readonly applied_index?: number; readonly log_size?: number };
  };
}

/** What a node tells of itself; null where it does not answer. */
export async function stateOf(node: RqliteNode): Promise<NodeState | null> {
  const { status, text } = await ask(requestTo(node, "GET", "/status", null, timeoutMs));
  if (status !== 200) return null;
  // As far as rqlite's reference goes; the rest is optional.
  const told: NodeState = JSON.parse(text);
  return told;
}
