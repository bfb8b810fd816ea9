/** Records that the last attempt to make a daily backup failed, for the doctor. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { ownFilePath } from "../../src/db/database-files.ts";
import { orElse } from "../../src/db/failure.ts";

/** A failed attempt. */
export interface FailedAttempt {
  /** The time at which it failed. */
  readonly at: string;
  readonly reason: string;
}

const fileFor = (databasePath: string) => ownFilePath(databasePath, "backup-failed");

/** Returns the last attempt if it failed; null if it succeeded, or nothing is known. */
export function readFailedAttempt(databasePath: string): FailedAttempt | null {
  const { at, reason } = Object(orElse(() => JSON.parse(readFileSync(fileFor(databasePath), "utf8")), null));
  return typeof at === "string" && typeof reason === "string" ? { at, reason } : null;
}

/** Records a failed attempt; null records that the last one succeeded. On a full disk, nothing is recorded. */
export function recordAttempt(databasePath: string, failed: FailedAttempt | null): void {
  try {
    if (failed === null) rmSync(fileFor(databasePath), { force: true });
    else writeFileSync(fileFor(databasePath), JSON.stringify(failed), { mode: 0o600 });
  } catch {
    // The log has the reason as well.
  }
}
