/** The thread in which a server applies retention: deleting and looking for bytes must hold up no request. */

import { openAgain } from "./open.ts";
import { applyRetention } from "./retention.ts";
import type { RetentionReply, RetentionWork } from "./retention-aside.ts";

declare const self: Worker;

self.onmessage = ({ data: { path, nowMs, descriptors } }: MessageEvent<RetentionWork>) => {
  self.postMessage(answer(path, nowMs, (part) => descriptors[part] ?? null));
};

function answer(path: string, nowMs: number, descriptors: (path: string) => number | null): RetentionReply {
  try {
    const database = openAgain(path);
    const { erased, traces } = applyRetention(database, path, nowMs, descriptors);
    database.$client.close();
    return { erased, gone: traces.gone };
  } catch (cause) {
    return { failure: cause instanceof Error ? cause.message : "unknown error" };
  }
}
