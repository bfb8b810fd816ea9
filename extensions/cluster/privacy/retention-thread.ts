/** Starts the thread in which a server of a cluster applies retention. */
import type { RetentionMoment } from "../../../src/privacy/retention-thread.ts";
import type { RqliteNode } from "../node/node.ts";

/** What the thread is handed. */
export interface ClusterRetentionWork extends RetentionMoment {
  readonly path: string;
  readonly node: RqliteNode;
}

export function startClusterRetention(work: ClusterRetentionWork): Worker {
  const worker = new Worker(new URL("./cluster-retention-worker.ts", import.meta.url));
  worker.postMessage(work);
  return worker;
}
