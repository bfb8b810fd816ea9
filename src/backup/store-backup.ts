/** Stores a backup in a folder or an object store: it is tested, and encrypted if there is a recipient. */
import { dirname, join } from "node:path";
import { createDraftFolder, removeAbandonedDrafts } from "../db/database-files.ts";
import type { Backup } from "./backup.ts";
import { drill, type TestedBackup } from "./drill.ts";
import { fileDigestOf, manifestPath, readManifest, writeManifest } from "./manifest.ts";
import { backupName, encryptedSuffix, type Place } from "./places.ts";
import type { Backups } from "./restore.ts";
import { untilStopped } from "./thread.ts";

interface StoreRequest {
  readonly backups: Backups;
  readonly databasePath: string;
  readonly place: Place;
  /** Encrypts the backup into a new file; null leaves it unencrypted. */
  readonly encrypt: ((from: string, to: string) => Promise<void>) | null;
  readonly nowMs: number;
  readonly stop: AbortSignal;
}

/** Makes a backup, tests it, and stores it under a name with its time. Nothing else is left in case of a failure. */
export async function storeBackup({
  backups,
  databasePath,
  place,
  encrypt,
  nowMs,
  stop,
}: StoreRequest): Promise<TestedBackup> {
  // Next to the database: a place of encrypted backups never has a plain one, not even after a kill.
  removeAbandonedDrafts(dirname(databasePath), 0);
  using folder = createDraftFolder(dirname(databasePath));
  const made = await backups.make(join(folder.path, backupName(nowMs)), nowMs, stop);
  const { leads, retainedOut } = await drill(made.file, nowMs, stop);
  const { file, sha256, bytes } = encrypt === null ? made : await untilStopped(encrypted(made.file, encrypt), stop);
  return { file: await untilStopped(place.put(file), stop), sha256, bytes, leads, retainedOut };
}

async function encrypted(plain: string, encrypt: NonNullable<StoreRequest["encrypt"]>): Promise<Omit<Backup, "leads">> {
  const file = `${plain}${encryptedSuffix}`;
  await encrypt(plain, file);
  writeManifest(manifestPath(file), readManifest(plain));
  return { file, ...(await fileDigestOf(file)) };
}
