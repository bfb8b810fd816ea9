/** One folder into which files are dropped: which of them are settled, and what becomes of each. */
import { readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../../src/process.ts";
import {
  entryAt,
  hindranceIn,
  linkIn,
  type Outcome,
  ownFolders,
  putAway,
  rejectsDraft,
  versionOf,
  type WhenDone,
} from "./put-away.ts";
import { watchSettledFiles } from "./settled-files.ts";

/** Imports a file, and writes the rows that it rejects to another one. */
type ImportFile = (file: string, rejects: string) => Promise<Outcome>;

export interface DropFolder {
  /** Returns the next settled files, the oldest first. Their size and time have not changed for two seconds. */
  settled(nowMs: number): string[];
  /** The number of files that the last call of `settled` found and did not return. */
  waiting(): number;
  /** Whether some of those are settled as well. */
  hasMore(): boolean;
  /** What the last call of `settled` found and did not return, with the reason to say. */
  remarks(): ReadonlyMap<string, string>;
  /** Imports a file and moves it away. If it is killed in between, the file is imported again, which changes nothing. */
  take(name: string, importFile: ImportFile, nowMs: number): Promise<Outcome>;
}

export const optionsFile = "import.json";
const settleMs = 2_000;
/** Of many thousands of files, only these are looked at once a second: a look at each would take too long. */
const maxLookedAt = 100;

/** A file as it was when it was last seen to change. */
interface Seen {
  readonly size: number;
  readonly mtimeMs: number;
  readonly sinceMs: number;
  readonly isFile: boolean;
}

export function openDropFolder(folder: string, whenDone: WhenDone): DropFolder {
  const watched = watchSettledFiles(folder);
  const settling = openSettling(folder);
  const { remarks } = settling;
  /** What became of files that could not be moved away: nobody needs to import them a second time. */
  const unmoved = new Map<string, { readonly version: string; readonly outcome: Outcome }>();
  return {
    settled(nowMs) {
      remarks.clear();
      for (const name of watched.bringBack(nowMs)) remarks.set(name, hasChanged);
      return settling.settled(nowMs);
    },
    waiting: settling.waiting,
    hasMore: settling.hasMore,
    remarks: () => remarks,
    async take(name, importFile, nowMs) {
      const hindrance = hindranceIn(folder, name, whenDone);
      if (hindrance !== null) return later(hindrance);
      const file = join(folder, name);
      const version = versionOf(entryAt(file));
      const known = unmoved.get(name);
      const imported = known?.version === version ? known.outcome : await importFile(file, rejectsDraft(folder, name));
      // What was read is not what the file is now. To move that away would lose it.
      const outcome = versionOf(entryAt(file)) === version ? imported : changedMeanwhile;
      if (outcome.kind !== "later") unmoved.set(name, { version, outcome });
      // The import takes its time, in which a folder can become a link.
      const link = linkIn(folder, name);
      if (link !== null) return later(link);
      const place = putAway(folder, name, outcome, whenDone, nowMs);
      if (place !== null) watched.add(place, name, nowMs);
      unmoved.delete(name);
      return outcome;
    },
  };
}

/** Finds out which files of a folder have not changed for two seconds. */
function openSettling(folder: string) {
  const seen = new Map<string, Seen>();
  const remarks = new Map<string, string>();
  let waiting = 0;
  let hasMore = false;

  /** Looks at a file. Returns whether it is settled. */
  function look(name: string, nowMs: number): boolean {
    const now = entryIn(folder, name, remarks);
    if (now === undefined) {
      seen.set(name, { size: 0, mtimeMs: Number.POSITIVE_INFINITY, sinceMs: nowMs, isFile: false });
      return false;
    }
    const { size, mtimeMs } = now;
    const before = seen.get(name);
    // A clock that was set back begins anew.
    const isSame = before?.size === size && before.mtimeMs === mtimeMs && before.sinceMs <= nowMs;
    if (!isSame) seen.set(name, { size, mtimeMs, sinceMs: nowMs, isFile: now.isFile() });
    return isSame && now.isFile() && nowMs - before.sinceMs >= settleMs;
  }

  /** Looks at the files that are new. */
  function update(nowMs: number): void {
    const names = new Set(readdirSync(folder).filter(isDropped));
    for (const name of seen.keys()) if (!names.has(name)) seen.delete(name);
    for (const name of names) if (!seen.has(name)) look(name, nowMs);
    // What is no file is looked at each time: it may have become one.
    const others = [...seen].filter(([, { isFile }]) => !isFile).slice(0, maxLookedAt);
    for (const [name] of others) look(name, nowMs);
  }

  return {
    remarks,
    settled(nowMs: number): string[] {
      update(nowMs);
      const files = [...seen].filter(([, { isFile }]) => isFile);
      const due = files.filter(([, { sinceMs }]) => nowMs - sinceMs >= settleMs || sinceMs > nowMs);
      const next = due.sort(([a, one], [b, other]) => one.mtimeMs - other.mtimeMs || (a < b ? -1 : 1));
      const settled = next.slice(0, maxLookedAt).flatMap(([name]) => (look(name, nowMs) ? [name] : []));
      waiting = files.length - settled.length;
      hasMore = next.length > maxLookedAt;
      return settled;
    },
    waiting: () => waiting,
    hasMore: () => hasMore,
  };
}

/** Returns what has a name in the folder. Adds a remark if it is never taken. */
function entryIn(folder: string, name: string, remarks: Map<string, string>): Stats | undefined {
  try {
    const found = entryAt(join(folder, name));
    const why = whyNever(name, found);
    if (why !== null) remarks.set(name, why);
    return found;
  } catch (cause) {
    remarks.set(name, `it cannot be opened (${systemCode(cause) ?? "unknown"}); it is tried again.`);
    return undefined;
  }
}

/** Returns why an entry is never taken; null for a file, and for a folder of the inbox itself. */
function whyNever(name: string, found: Stats | undefined): string | null {
  if (found === undefined) return name.includes("\ufffd") ? "its name is not UTF-8; rename it." : null;
  if (ownFolders.has(name)) return null;
  if (found.isSymbolicLink()) return "it is a link; put the file itself in its place.";
  return found.isDirectory() ? "it is a folder; move its files out of it." : null;
}

const hasChanged =
  "it changed after its import, and is imported again. If the upload had stalled, the last row may be a lead that is cut " +
  "off. Upload the file as .part, then rename it: then it is not taken too early.";

const later = (reason: string): Outcome => ({ kind: "later", reason });
const changedMeanwhile = later("It was changed or replaced while it was imported.");

/** Returns whether a file may hold leads: no options, no hidden file, no copy under way, and no backup of an editor. */
export function isDropped(name: string): boolean {
  if (name === optionsFile || name.startsWith(".") || ownFolders.has(name)) return false;
  return !/(?:\.(?:part|partial|tmp|crdownload|filepart|sw[a-p])|~|^#.*#)$/i.test(name);
}
