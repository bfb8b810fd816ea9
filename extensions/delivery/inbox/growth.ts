/** Files that grow after their import: an upload had paused for longer than files are waited for, and goes on in done/. */
import { renameSync, type Stats } from "node:fs";
import { join } from "node:path";
import { entryAt } from "./put-away.ts";

/** An upload that pauses for longer has lost its connection. */
const watchedMs = 10 * 60_000;

export function watchGrowth(folder: string) {
  const watched = new Map<string, { name: string; imported: Stats; untilMs: number }>();
  return {
    /** Watches a file that was imported when it was as `imported` says. */
    add(place: string, name: string, imported: Stats, nowMs: number): void {
      watched.set(place, { name, imported, untilMs: nowMs + watchedMs });
    },
    /** Moves files that have grown back to where they were dropped, and gives their names. */
    bringBack(nowMs: number): string[] {
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
