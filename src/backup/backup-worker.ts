/** The thread in which backups are made, tried and put in place. */

import { storeErrorOf } from "../db/failure.ts";
import type { Backup, MadeBackup, Restoration } from "../store/backups.ts";
import { innermost, StoreError } from "../store/errors.ts";
import { makeBackup } from "./backup.ts";
import { type BackupReply, type BackupWork, decide, type Ending } from "./backup-thread.ts";
import { tryRestore } from "./drill.ts";
import { restoreBackup } from "./restore.ts";

declare const self: Worker;

self.onmessage = ({ data: [work, ending] }: MessageEvent<[BackupWork, Ending]>) => {
  self.postMessage(replyOf(work, ending));
};

function replyOf(work: BackupWork, ending: Ending): BackupReply<unknown> {
  try {
    return { result: resultOf(work, () => complete(ending)) };
  } catch (cause) {
    const failure = storeErrorOf(cause, work.act === "drill" ? work.file : work.path);
    return failure instanceof StoreError ? { problem: failure.problem } : { failure: innermost(failure) };
  }
}

function resultOf(work: BackupWork, complete: () => void): Backup | MadeBackup | Restoration {
  if (work.act === "make") return makeBackup(work.path, work.file, work.nowMs, complete);
  if (work.act === "drill") return tryRestore(work.file, work.folder);
  return restoreBackup(work.path, work.file, work.receipts, work.nowMs, complete);
}

/** From here on nothing stops the work. */
function complete(ending: Ending): void {
  if (!decide(ending)) throw new Error("it was stopped");
}
