/** Backups of the one file. What a thread was making when it was stopped is removed here. */
import { rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { draftOf, removeDraft } from "../db/atomic-file.ts";
import { codeOf } from "../db/failure.ts";
import { removeLeftovers, trialFolderIn } from "../db/leftovers.ts";
import type { Backup, Backups, Listen, MadeBackup, Restoration } from "../store/backups.ts";
import { StoreError } from "../store/errors.ts";
import { draftsOf } from "./backup.ts";
import { workInThread } from "./backup-thread.ts";
import { targetOf } from "./restore.ts";

export function openBackups(path: string): Backups {
  return {
    async make(file, nowMs, listen) {
      try {
        return await workInThread<MadeBackup>({ act: "make", path, file, nowMs }, listen);
      } finally {
        for (const draft of draftsOf(file)) removeDraft(draft);
      }
    },
    drill: tryInThread,
    async restore(file, receipts, nowMs, listen) {
      const draft = draftOf(targetOf(path));
      try {
        return await workInThread<Restoration>({ act: "restore", path, file, receipts, nowMs }, listen);
      } finally {
        removeDraft(draft);
      }
    },
  };
}

async function tryInThread(file: string, listen: Listen): Promise<Backup> {
  const signal = listen();
  process.umask(0o077);
  removeLeftovers(dirname(resolve(file)));
  const folder = makeFolder(dirname(resolve(file)));
  try {
    return await workInThread<Backup>({ act: "drill", file, folder }, () => signal);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The place of the drill; throws a StoreError where a disk that only reads, or another user's, has none. */
function makeFolder(folder: string): string {
  try {
    return trialFolderIn(folder);
  } catch (cause) {
    throw new StoreError({ kind: "no place for a drill", folder, reason: codeOf(cause) }, { cause });
  }
}
