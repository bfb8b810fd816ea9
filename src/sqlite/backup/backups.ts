/** Backups of the one file. */
import type { Backups } from "../../store/backups.ts";
import { makeBackup } from "./backup.ts";
import { restoreBackup } from "./restore.ts";
import { tryRestore } from "./trial-restore.ts";

export function openBackups(path: string): Backups {
  return {
    make: (file, nowMs) => makeBackup(path, file, nowMs),
    drill: tryRestore,
    restore: (file, receipts, nowMs) => restoreBackup(path, file, receipts, nowMs),
  };
}
