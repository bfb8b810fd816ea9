/** The thread in which a server of the one file applies retention: deleting and rewriting must hold up no request. */
import { databaseOn, openAgain } from "../db/open.ts";
import { applyRetention } from "./retention.ts";
import { answerWith, type RetentionWork } from "./retention-thread.ts";

declare const self: Worker;

answerWith(self, async ({ path, nowMs, hasJumped }: RetentionWork) => {
  const database = databaseOn(openAgain(path));
  try {
    return await applyRetention(database, nowMs, hasJumped);
  } finally {
    database.close();
  }
});
