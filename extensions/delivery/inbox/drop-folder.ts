/** One folder into which files are dropped: which of them are complete, and what becomes of each. */
import { readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../../src/operator/system-code.ts";
import { watchGrowth } from "./growth.ts";
import {
  entryAt,
  hindranceIn,
  linkIn,
  type Outcome,
  ownFolders,
  putAway,
  rejectsDraft,
  type WhenDone,
} from "./put-away.ts";

/** Imports a file, and writes the rows that it rejects to another one. */
type ImportFile = (file: string, rejects: string) => Promise<Outcome>;

export interface DropFolder {
  /** The complete files: their size and time have not changed for two seconds. Oldest first, then by name. */
  ready(nowMs: number): string[];
  /** How many files there were at the last call of `ready`. */
  waiting(): number;
  /** What is to be said of what that call has found: why one is never taken, or is taken again. */
  passedOver(): ReadonlyMap<string, string>;
  /** Imports a file and moves it away. A kill in between has it imported again, which changes nothing. */
  take(name: string, importFile: ImportFile, nowMs: number): Promise<Outcome>;
}

export const optionsFile = "import.json";
const stillMs = 2_000;

export function openDropFolder(folder: string, whenDone: WhenDone): DropFolder {
  const seen = new Map<string, { readonly size: number; readonly mtimeMs: number; readonly sinceMs: number }>();
  const passedOver = new Map<string, string>();
  const growth = watchGrowth(folder);
  /** What became of files that could not be moved away since: nobody needs to import them a second time. */
  const unmoved = new Map<string, { readonly version: string; readonly outcome: Outcome }>();

  function isStill(name: string, nowMs: number): boolean {
    const now = look(folder, name, passedOver);
    if (!now?.isFile()) return false;
    const before = seen.get(name);
    // A clock that went back begins anew.
    const isSame = before?.size === now.size && before.mtimeMs === now.mtimeMs && before.sinceMs <= nowMs;
    if (isSame) return nowMs - before.sinceMs >= stillMs;
    seen.set(name, { size: now.size, mtimeMs: now.mtimeMs, sinceMs: nowMs });
    return false;
  }

  return {
    ready(nowMs) {
      passedOver.clear();
      for (const name of growth.bringBack(nowMs)) passedOver.set(name, hasGrown);
      const names = readdirSync(folder).filter(isDropped).toSorted();
      for (const name of seen.keys()) if (!names.includes(name)) seen.delete(name);
      return names
        .filter((name) => isStill(name, nowMs))
        .toSorted((a, b) => (seen.get(a)?.mtimeMs ?? 0) - (seen.get(b)?.mtimeMs ?? 0));
    },
    waiting: () => seen.size,
    passedOver: () => passedOver,
    async take(name, importFile, nowMs) {
      const hindrance = hindranceIn(folder, name, whenDone);
      if (hindrance !== null) return later(hindrance);
      const file = join(folder, name);
      const dropped = entryAt(file);
      const version = versionOf(dropped);
      const known = unmoved.get(name);
      const imported = known?.version === version ? known.outcome : await importFile(file, rejectsDraft(folder, name));
      // What was read is not what lies there now. To move that away would lose it.
      const outcome = versionOf(entryAt(file)) === version ? imported : changedMeanwhile;
      if (outcome.kind !== "later") unmoved.set(name, { version, outcome });
      // The import takes its time, in which a folder can become a link.
      const link = linkIn(folder, name);
      if (link !== null) return later(link);
      const place = putAway(folder, name, outcome, whenDone);
      if (place !== null && dropped !== undefined) growth.add(place, name, dropped, nowMs);
      unmoved.delete(name);
      return outcome;
    },
  };
}

/** What lies in the folder under a name. Notes it where that is never taken. */
function look(folder: string, name: string, passedOver: Map<string, string>): Stats | undefined {
  try {
    const found = entryAt(join(folder, name));
    const why = whyNever(name, found);
    if (why !== null) passedOver.set(name, why);
    return found;
  } catch (cause) {
    passedOver.set(name, `it cannot be opened (${systemCode(cause) ?? "unknown"}); rename it or remove it.`);
    return undefined;
  }
}

/** Why something in the folder is never taken; null for a file, and for a folder of ours. */
function whyNever(name: string, found: Stats | undefined): string | null {
  if (found === undefined) return name.includes("\ufffd") ? "its name is not UTF-8; rename it." : null;
  if (ownFolders.has(name)) return null;
  if (found.isSymbolicLink()) return linkRefused;
  return found.isDirectory() ? "it is a folder; move its files out of it, and they are taken." : null;
}

const hasGrown =
  "it grew after its import, and is imported again. The row where it ended before may be a lead that is cut off. Upload it " +
  "as .part and then rename it: so it is not taken too early.";

/** Whoever may drop files need not be who may read what a link leads to, such as the files of another account. */
const linkRefused = "it is a link; put the file itself in its place.";

const later = (reason: string): Outcome => ({ kind: "later", reason });
const changedMeanwhile = later("It was changed or replaced while it was imported.");

/** Another text for a file that was written to, replaced or removed; empty where no file is, but perhaps a link. */
function versionOf(now: Stats | undefined): string {
  return now?.isFile() === true ? `${now.ino} ${now.size} ${now.mtimeMs}` : "";
}

/** Whether a file may hold leads: no options, no hidden file, and no copy under way, as many programs name one. */
export function isDropped(name: string): boolean {
  return name !== optionsFile && !name.startsWith(".") && !/\.(?:part|partial|tmp|crdownload|filepart)$/i.test(name);
}
