/** The thread in which a server applies retention: deleting and looking for bytes must hold up no request. */
import { openAgain } from "../open.ts";
import { applyRetention, removingFrom } from "./retention.ts";
import { waitUntil } from "./retention-hold.ts";
import type { RetentionReply, RetentionWork } from "./retention-worker-client.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<RetentionWork>) => {
  self.postMessage(answer(data));
};

function answer({ path, nowMs, hasJumped, descriptors }: RetentionWork): RetentionReply {
  try {
    const database = openAgain(path);
    try {
      const waitsUntilMs = waitUntil(database, nowMs, hasJumped);
      if (waitsUntilMs !== null) return { waitsUntilMs };
      const remove = removingFrom(database, path, (part) => descriptors[part] ?? null);
      const { erased, traces } = applyRetention(database, nowMs, remove);
      return { erased, gone: traces.gone };
    } finally {
      database.$client.close();
    }
  } catch (cause) {
    return { failure: cause instanceof Error ? cause.message : "unknown error" };
  }
}
