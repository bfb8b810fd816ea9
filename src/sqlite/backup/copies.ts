/** Copies of the whole file: backups, their drills, and how they are brought back. */
import type { CopyKeeper } from "../../store/privacy.ts";
import { makeBackup } from "./backup.ts";
import { drillBackup } from "./drill.ts";
import { restoreBackup } from "./restore.ts";

export function keepCopies(path: string): CopyKeeper {
  return {
    backup: (file, nowMs) => makeBackup(path, file, nowMs),
    drill: (file) => drillBackup(file),
    restore: (file, receipts, nowMs) => restoreBackup(path, file, receipts, nowMs),
  };
}
