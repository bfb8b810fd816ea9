/** Files that were imported or could not be read: they are watched for changes, and deleted after INBOX_KEEP_DAYS. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../src/contract/calendar.ts";
import { entryAt, namesIn, versionOf } from "./put-away.ts";

/** A file is watched for so long after it was last changed. */
const watchedMs = 24 * 3_600_000;

interface Watched {
  readonly name: string;
  readonly ino: number;
  readonly version: string;
  readonly sinceMs: number;
  /** When it is looked at next. */
  nextMs: number;
}

/** Watches the files in done/ and failed/. An upload that stalled may go on there, and a failed file may be corrected there. */
export function watchSettledFiles(folder: string) {
  const files = new Map<string, Watched>();

  function add(place: string, name: string, sinceMs: number): void {
    const now = entryAt(place);
    if (now?.isFile()) files.set(place, { name, ino: now.ino, version: versionOf(now), sinceMs, nextMs: sinceMs });
  }

  /** Files that were settled before this start. */
  let isNew = true;
  function addOthers(nowMs: number): void {
    isNew = false;
    for (const own of ["done", "failed"]) {
      for (const name of namesIn(join(folder, own))) {
        const place = join(folder, own, name);
        const now = entryAt(place);
        const isText = own === "failed" && name.endsWith(".txt");
        if (now !== undefined && !isText && nowMs - now.ctimeMs < watchedMs) add(place, name, nowMs);
      }
    }
  }

  function isBroughtBack(place: string, file: Watched, nowMs: number): boolean {
    // An upload that goes on does so soon: the older a file is, the less often it is looked at, up to once a minute.
    file.nextMs = nowMs + Math.min((nowMs - file.sinceMs) / 10, 60_000);
    const now = entryAt(place);
    // Most programs that edit a file put another one in its place: that is no upload.
    const isSame = now?.ino === file.ino && now.isFile();
    if (!isSame || nowMs - file.sinceMs > watchedMs) files.delete(place);
    if (!isSame || versionOf(now) === file.version) return false;
    if (entryAt(join(folder, file.name)) !== undefined) return false;
    renameSync(place, join(folder, file.name));
    files.delete(place);
    return true;
  }

  return {
    add,
    /** Moves files that have changed back to where they were dropped, and returns their names. */
    bringBack(nowMs: number): string[] {
      if (isNew) addOthers(nowMs);
      const due = [...files].filter(([, { nextMs, sinceMs }]) => nowMs >= nextMs || nowMs < sinceMs);
      return due.flatMap(([place, file]) => (isBroughtBack(place, file, nowMs) ? [file.name] : []));
    },
  };
}

/** Deletes the files in done/ and rejected/ of a folder that are older than some days: they hold personal data. */
export function deleteOldFiles(folder: string, keepDays: number, nowMs: number): void {
  for (const own of ["done", "rejected"].map((name) => join(folder, name))) {
    // A link could lead to the files of somebody else.
    if (entryAt(own)?.isDirectory() !== true) continue;
    for (const path of namesIn(own).map((name) => join(own, name))) deleteIfOld(path, keepDays, nowMs);
  }
}

function deleteIfOld(path: string, keepDays: number, nowMs: number): void {
  try {
    const found = entryAt(path);
    if (found?.isFile() && nowMs - found.mtimeMs > keepDays * dayMs) rmSync(path, { force: true });
  } catch {
    // It is tried again in an hour.
  }
}
