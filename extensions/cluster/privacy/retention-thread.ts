/** Starts the thread in which a server of a cluster applies retention. */
import { isRetentionDue, type Retained } from "../../../src/privacy/retention.ts";
import { replyOf } from "../../../src/privacy/retention-thread.ts";
import type { RqliteNode } from "../node/node.ts";
import type { Replica } from "../replica.ts";

/** What the thread is handed. */
export interface ClusterRetentionWork {
  readonly path: string;
  readonly node: RqliteNode;
  readonly nowMs: number;
  readonly hasJumped: boolean;
}

/** Applies retention in a thread of its own, because writes into a cluster block. Throws if that fails. */
export async function retainOnCluster(replica: Replica, work: ClusterRetentionWork): Promise<Retained> {
  if (!isRetentionDue(replica.current().database, work.nowMs)) return { erased: 0, waitsUntilMs: null };
  return replyOf(new Worker(new URL("./cluster-retention-worker.ts", import.meta.url)), work);
}
