/** Copies of the one file: how they are made, tried and brought back. */
import type { CopyKeeper } from "../../store/privacy.ts";
import { makeBackup } from "./backup.ts";
import { restoreBackup } from "./restore.ts";
import { tryRestore } from "./trial-restore.ts";

export function keepCopies(path: string): CopyKeeper {
  return {
    backup: (file, nowMs) => makeBackup(path, file, nowMs),
    drill: tryRestore,
    restore: (file, receipts, nowMs) => restoreBackup(path, file, receipts, nowMs),
  };
}
