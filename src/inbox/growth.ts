/** Files that grow after their import: an upload had paused for longer than files are waited for, and goes on in done/. */
import { renameSync, type Stats } from "node:fs";
import { join } from "node:path";
import { entryAt } from "./put-away.ts";

/** An upload that pauses for longer has lost its connection. */
const watchedMs = 10 * 60_000;

export interface GrowthWatch {
  /** Watches a file that was imported when it was as `imported` says. */
  add(place: string, name: string, imported: Stats, nowMs: number): void;
  /** Moves files that have grown back to where they were dropped, and gives their names. */
  bringBack(nowMs: number): string[];
}

export function watchGrowth(folder: string): GrowthWatch {
  const watched = new Map<string, { name: string; imported: Stats; untilMs: number }>();
  return {
    add(place, name, imported, nowMs) {
      watched.set(place, { name, imported, untilMs: nowMs + watchedMs });
    },
    bringBack(nowMs) {
      const back: string[] = [];
      for (const [place, { name, imported, untilMs }] of watched) {
        const now = entryAt(place);
        // Most programs that edit a file put another one in its place: that is no upload.
        const isSame = now?.ino === imported.ino && now.isFile();
        if (!isSame || nowMs > untilMs) watched.delete(place);
        else if (now.size > imported.size && entryAt(join(folder, name)) === undefined) {
          renameSync(place, join(folder, name));
          watched.delete(place);
          back.push(name);
        }
      }
      return back;
    },
  };
}
