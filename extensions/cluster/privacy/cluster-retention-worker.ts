/** The thread in which a server of a cluster applies retention. Several servers may be at it: each deletes what is left. */

import type { Retained } from "../../../src/db/serving.ts";
import { applyRetention, noTraces } from "../../../src/privacy/retention.ts";
import { waitUntil } from "../../../src/privacy/retention-hold.ts";
import { replyOf } from "../../../src/privacy/retention-thread.ts";
import { openCapturing } from "../capturing.ts";
import { openWriter } from "../writer.ts";
import type { ClusterRetentionWork } from "./retention-thread.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ClusterRetentionWork>) => {
  self.postMessage(replyOf(() => retain(data)));
};

function retain({ path, node, nowMs, hasJumped }: ClusterRetentionWork): Retained {
  using writer = openWriter(path, node);
  const database = openCapturing(writer);
  const waitsUntilMs = waitUntil(database, nowMs, hasJumped);
  if (waitsUntilMs !== null) return { erased: 0, waitsUntilMs };
  // The bytes are in the logs of the nodes until those are scrubbed.
  const { erased } = applyRetention(database, nowMs, () => noTraces);
  if (erased > 0) writer.commitEverywhere([]);
  return { erased, waitsUntilMs: null };
}
