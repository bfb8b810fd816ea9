/** The backups in a place, listed for the daily backup and for the doctor. */
import { openPlace, type StoredBackup } from "../../src/backup/places.ts";
import { isS3 } from "../../src/config.ts";
import { store } from "./store.ts";

const listings = new Map<string, Promise<StoredBackup[]>>();

/**
 * Lists the backups in a place. A folder is listed once at a time: on an unresponsive disk each listing keeps a thread of the
 * process, and when a few are kept, no host name can be looked up, as an alert needs.
 */
export function listPlace(to: string, nowMs: number): Promise<StoredBackup[]> {
  const list = async () => await openPlace(to, store).list(nowMs);
  if (isS3(to)) return list();
  return listings.getOrInsertComputed(to, () => list().finally(() => listings.delete(to)));
}
