/**
 * The log beside the file, put on the disk next to everything else. A commit that waits for the disk keeps the file locked
 * meanwhile, and in the server all requests with it: such commits go to the log alone, and the log to the disk from here.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { promisify } from "node:util";

export interface LogFile {
  /** Resolves when all that was committed before is on the disk. */
  putOnDisk(): Promise<void>;
  /** The same, for the end of a program. */
  putOnDiskNow(): void;
  close(): void;
}

const putOnDisk = promisify(fdatasync);

/** Opens the log of a database that is open. SQLite has no locks on it, which closing a descriptor would drop. */
export function openLogFile(path: string): LogFile {
  const file = openSync(`${path}-wal`, "r");
  return {
    putOnDisk: () => putOnDisk(file),
    putOnDiskNow: () => fdatasyncSync(file),
    close: () => closeSync(file),
  };
}
