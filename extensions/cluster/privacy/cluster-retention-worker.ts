/** The thread in which a server of a cluster applies retention. Several servers may do it: each deletes what is left. */
import { applyRetention } from "../../../src/privacy/retention.ts";
import { answerWith } from "../../../src/privacy/retention-thread.ts";
import { openClusterDatabase } from "../cluster-database.ts";
import type { ClusterRetentionWork } from "./retention-thread.ts";

declare const self: Worker;

answerWith(self, async ({ path, node, nowMs, hasJumped }: ClusterRetentionWork) => {
  const database = openClusterDatabase(path, node, () => undefined);
  try {
    return await applyRetention(database, nowMs, hasJumped);
  } finally {
    database.close();
  }
});
