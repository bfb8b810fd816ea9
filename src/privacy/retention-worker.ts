/** The thread in which a server of the one file applies retention. */

import { closing } from "../db/connection.ts";
import { openAgain } from "../db/open.ts";
import type { Retained } from "../db/serving.ts";
import { applyRetention, removingFrom } from "./retention.ts";
import { waitUntil } from "./retention-hold.ts";
import { type RetentionWork, replyOf } from "./retention-thread.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<RetentionWork>) => {
  self.postMessage(replyOf(() => retain(data)));
};

function retain({ path, nowMs, hasJumped, descriptors }: RetentionWork): Retained {
  using database = closing(openAgain(path));
  const waitsUntilMs = waitUntil(database, nowMs, hasJumped);
  if (waitsUntilMs !== null) return { erased: 0, waitsUntilMs };
  const remove = removingFrom(database, (part) => descriptors[part] ?? null);
  const { erased, traces } = applyRetention(database, nowMs, remove);
  if (!traces.gone) throw new Error("another program, such as Litestream, keeps reading what was erased");
  return { erased, waitsUntilMs: null };
}
