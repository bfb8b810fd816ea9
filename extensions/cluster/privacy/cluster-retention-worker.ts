/** The thread in which a server of a cluster applies retention. Several servers may do it: each deletes what is left. */
import { applyRetention } from "../../../src/privacy/retention.ts";
import { answerWith } from "../../../src/privacy/retention-thread.ts";
import { databaseOf } from "../admin-store.ts";
import { openWriter } from "../writer.ts";
import type { ClusterRetentionWork } from "./retention-thread.ts";

declare const self: Worker;

answerWith(self, async ({ path, node, nowMs, hasJumped }: ClusterRetentionWork) => {
  using writer = openWriter(path, node);
  return await applyRetention(databaseOf(writer), nowMs, hasJumped);
});
