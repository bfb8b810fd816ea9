/** The thread in which a server of one file applies retention. */
import { innermost } from "../db/failure.ts";
import { databaseOn, openAgain } from "../db/open.ts";
import { applyRetention, type RetentionReply, type RetentionWork } from "./retention.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<RetentionWork>) => {
  self.postMessage(await retain(data).catch((cause): RetentionReply => ({ failure: innermost(cause) })));
};

async function retain({ path, nowMs, hasJumped }: RetentionWork): Promise<RetentionReply> {
  const database = databaseOn(openAgain(path));
  try {
    return await applyRetention(database, nowMs, hasJumped);
  } finally {
    database.close();
  }
}
