/** The thread that lists a place of backups for the doctor, which ends it when it takes too long. */
import { openPlace } from "../../src/backup/places.ts";
import { innermost } from "../../src/db/failure.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import type { ListReply, ListRequest } from "./findings.ts";

declare const self: Worker;

self.onmessage = async ({ data: { to, access, nowMs } }: MessageEvent<ListRequest>) => {
  const reply = await Promise.try(() => openPlace(to, access).list(nowMs)).then(
    (backups): ListReply => ({ backups }),
    (cause): ListReply =>
      cause instanceof UserError ? { failure: [cause.message, cause.advice] } : { failure: [innermost(cause), ""] },
  );
  self.postMessage(reply);
};
