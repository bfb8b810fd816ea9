/** The schedule of the daily backups, and the deletion of the oldest ones. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isBackupName, newestFirst, type Place } from "../../src/backup/places.ts";
import { dayMs } from "../../src/contract/calendar.ts";

/** Deletes all but the newest backups of a place, and copies from before an upgrade that are older than `keep` days. */
export async function rotate(place: Place, keep: number, databasePath: string, nowMs: number): Promise<string[]> {
  const old = await deleteOldest(place, keep, nowMs);
  const copy = new RegExp(`^${RegExp.escape(basename(databasePath))}\\.before-\\S+$`);
  const folder = dirname(databasePath);
  const copies = readdirSync(folder)
    .filter((name) => copy.test(name))
    .map((name) => join(folder, name))
    .filter((path) => nowMs - statSync(path).mtimeMs > keep * dayMs);
  for (const path of copies) rmSync(path);
  return [...old, ...copies];
}

/**
 * Deletes all but the newest `keep` backups that Leadfile named, and incomplete ones that are older than the kept ones. Returns
 * the addresses of the deleted ones.
 */
async function deleteOldest(place: Place, keep: number, nowMs: number): Promise<string[]> {
  const { backups, incomplete } = await place.listAll();
  const names = newestFirst(backups, nowMs).map(({ file }) => basename(file));
  const [oldest] = names.slice(0, keep).toSorted();
  // If there are fewer than `keep` backups, incomplete ones are kept: someone may have copied them without manifests.
  const isOver = (name: string) => names.length >= keep && oldest !== undefined && name < oldest;
  const gone = [...names.slice(keep), ...incomplete.filter(isBackupName).filter(isOver)];
  const addresses: string[] = [];
  for (const name of gone) addresses.push(await place.remove(name));
  return addresses;
}

/** Returns the next time of day, in local time, after a time. */
function nextAt(afterMs: number, { hour, minute }: { readonly hour: number; readonly minute: number }): number {
  const after = new Date(afterMs);
  const at = (days: number) =>
    new Date(after.getFullYear(), after.getMonth(), after.getDate() + days, hour, minute).getTime();
  return at(0) > afterMs ? at(0) : at(1);
}

const maxAgeMs = 25 * 3_600_000;
const retryMs = 15 * 60_000;
/** A clock that is set is noticed within this time. */
const lookMs = 60_000;

interface Schedule {
  readonly at: { readonly hour: number; readonly minute: number };
  readonly now: () => number;
  /** Waits; true if it is time to end. */
  readonly pause: (ms: number) => Promise<boolean>;
  /** The time at which the newest backup was made; null if there is none. */
  readonly lastMs: () => Promise<number | null>;
  readonly run: () => Promise<void>;
  readonly onFailure: (cause: unknown) => void;
}

/**
 * Runs a backup daily at a time of day, and at once if the last one is older than 25 hours: the server may have been down at
 * that time. Repeats one that failed. Ends with `pause`.
 */
export async function keepDaily({ at, now, pause, lastMs, run, onFailure }: Schedule): Promise<void> {
  const dueAfter = (last: number | null) => {
    const missedForMs = now() - nextAt(last ?? 0, at);
    // A restart within the last hour may have stopped or missed one.
    if (last === null || (missedForMs >= 0 && missedForMs < maxAgeMs - dayMs)) return now();
    return Math.min(nextAt(now(), at), last + maxAgeMs + 1);
  };
  let isStart = true;
  let dueMs = now();
  for (;;) {
    if (now() >= dueMs) {
      try {
        let last = isStart ? await lastMs() : null;
        if (dueAfter(last) <= now()) {
          last = now();
          await run();
        }
        isStart = false;
        dueMs = dueAfter(last);
      } catch (cause) {
        onFailure(cause);
        dueMs = now() + retryMs;
      }
    }
    if (await pause(Math.min(lookMs, Math.max(0, dueMs - now())))) return;
    // A clock that was set back must not postpone the next one by more than a day.
    dueMs = Math.min(dueMs, now() + maxAgeMs);
  }
}
