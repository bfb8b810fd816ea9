/** The port of backups: how they are made, tried and brought back. */

/**
 * Makes and restores backups. A refusal throws a StoreError, and nothing has changed. `listen` gives a signal that may be
 * aborted meanwhile: then its reason is thrown, and nothing has changed or is left behind.
 */
export interface Backups {
  /** A consistent copy with its manifest beside it; the server and an import may run. */
  make(file: string, nowMs: number, listen: Listen): Promise<MadeBackup>;
  /** Restores a backup into a temporary place, compares, and removes it again. */
  drill(file: string, listen: Listen): Promise<Backup>;
  /** Puts a backup in the place of the database. `receipts` is the path of a file with one receipt on each line. */
  restore(file: string, receipts: string | null, nowMs: number, listen: Listen): Promise<Restoration>;
}

/** Begins to listen to what may stop the work. */
export type Listen = () => AbortSignal;

export interface Backup {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly leads: number;
}

export interface MadeBackup extends Backup {
  /** Why the audit does not have it, such as a full disk; null where it has. */
  readonly unrecorded: string | null;
}

export interface Restoration {
  readonly leads: number;
  readonly erasedAgain: number;
  /** How often blocks were lifted since the backup: it may have leads from before the erasure. */
  readonly unblockedSince: number;
  /** How many leads were left out, because they are older than their account keeps. */
  readonly older: number;
  /** What was brought over from the old file, because it must outlive a restore. */
  readonly merged: readonly Merged[];
  /** What could not be brought over, because the old file is damaged. */
  readonly unread: readonly string[];
  /** Whether there was a file that knows what was done since the backup, as far as it could be read. */
  readonly isSinceKnown: boolean;
  /** Where the old file is kept; null when there was none. */
  readonly kept: string | null;
}

export interface Merged {
  /** Such as `revoked keys`. */
  readonly name: string;
  readonly count: number;
}
