/** The thread in which a server of a cluster applies retention: its steps wait for the cluster, and must hold up no request. */
import { applyRetention } from "../../sqlite/privacy/retention.ts";
import { waitUntil } from "../../sqlite/privacy/retention-hold.ts";
import type { Retained } from "../../store/serving.ts";
import { openCapturing } from "../capturing.ts";
import { openLocalFile } from "../local-file.ts";
import { openBlockingNode } from "../node/blocking.ts";
import type { RqliteNode } from "../node/node.ts";
import { openWriter } from "../writer.ts";

declare const self: Worker;

export interface RetentionErrand {
  readonly path: string;
  readonly node: RqliteNode;
  readonly nowMs: number;
  readonly hasJumped: boolean;
}

export type RetentionDone = Retained | { readonly failure: string };

self.onmessage = ({ data }: MessageEvent<RetentionErrand>) => {
  self.postMessage(answer(data));
};

function answer({ path, node, nowMs, hasJumped }: RetentionErrand): RetentionDone {
  const file = openLocalFile(path);
  const blocking = openBlockingNode();
  try {
    const writer = openWriter({ node, blocking, file, onSilent: () => {} });
    const database = openCapturing(file, writer.commit);
    const waitsUntilMs = waitUntil(database, nowMs, hasJumped);
    if (waitsUntilMs !== null) return { erased: 0, waitsUntilMs };
    // The bytes are in the logs of the nodes until those are scrubbed.
    const { erased } = applyRetention(database, nowMs, () => ({ gone: true, bytes: 0, shared: 0, copies: [] }));
    if (erased > 0) writer.commitEverywhere([]);
    return { erased, waitsUntilMs: null };
  } catch (cause) {
    return { failure: cause instanceof Error ? cause.message : "unknown error" };
  } finally {
    blocking.close();
    file.close();
  }
}
