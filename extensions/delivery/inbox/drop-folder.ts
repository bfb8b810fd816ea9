/** One folder into which files are dropped: finds those that are complete, and imports and archives each. */
import { readdirSync, renameSync, type Stats } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../src/db/failure.ts";
import {
  archive,
  divide,
  entryAt,
  type FileSource,
  failedFolder,
  namesIn,
  type Outcome,
  obstacleIn,
  ownFolders,
  rejectsDraft,
  versionOf,
} from "./archive.ts";

/** Imports a file, and writes the rows that it rejects to another one. */
export type ImportFile = (file: string, rejects: string) => Promise<Outcome>;

/** One version of a file, and the time at which it was seen first. */
interface SeenFile {
  readonly name: string;
  readonly version: string;
  readonly mtimeMs: number;
  readonly sinceMs: number;
  /** The outcome of its import if it could not be moved away after that: it needs no second import. */
  outcome: Outcome | null;
}

export const optionsFile = "import.json";
/**
 * An upload is complete when it was last written this long ago. Uploads stall: a shorter time would import parts of one, and
 * the last row of a part may be a lead that is cut off.
 */
export const stillMs = 30_000;
/** A file that was written long ago, such as one that was moved here, must have been seen unchanged for this time. */
const settleMs = 2_000;
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

/** A folder into which files are dropped. It remembers the files that it has seen. */
export class DropFolder {
  readonly #archived: ReturnType<typeof watchArchived>;
  #seen: ReadonlyMap<string, SeenFile> = new Map();
  /** No file is imported during this time: each try would, for example, fill the disk again. */
  #pause: { readonly sinceMs: number; readonly ms: number } | null = null;

  constructor(
    readonly name: string,
    readonly path: string,
    readonly source: FileSource,
    readonly now: () => number,
  ) {
    this.#archived = watchArchived(path);
  }

  /** True after an import that failed for a reason that is not the file. A clock that was set back ends the pause. */
  get isPaused(): boolean {
    const pausedMs = this.#pause === null ? -1 : this.now() - this.#pause.sinceMs;
    return pausedMs >= 0 && pausedMs < (this.#pause?.ms ?? 0);
  }

  /** The names of entries that may be files to import. */
  names(): string[] {
    return readdirSync(this.path).filter(isDropped);
  }

  /**
   * Looks at all entries. Returns the complete files, the oldest first; the number of those that may still be written to; the
   * files that have changed in done/ or failed/, to be imported again; and the reasons why other entries are not imported.
   */
  look() {
    const nowMs = this.now();
    const broughtBack = this.#archived.bringBack(nowMs);
    const unusual = new Map<string, string>();
    const files = this.names().flatMap((name): SeenFile[] => {
      const found = fileIn(this.path, name, unusual);
      if (found === undefined) return [];
      const [version, before] = [versionOf(found), this.#seen.get(name)];
      // A clock that was set back starts the time again.
      if (before?.version === version && before.sinceMs <= nowMs) return [before];
      return [{ name, version, mtimeMs: found.mtimeMs, sinceMs: nowMs, outcome: null }];
    });
    this.#seen = new Map(files.map((file) => [file.name, file]));
    const complete = files
      .filter((file) => this.source === "deliveries" || isStill(file, nowMs))
      .sort((one, other) => one.mtimeMs - other.mtimeMs || (one.name < other.name ? -1 : 1));
    return { complete, waiting: files.length - complete.length, broughtBack, unusual };
  }

  /** Imports a file and archives it. If it is killed in between, the file is imported again, which changes nothing. */
  async take(file: SeenFile, importFile: ImportFile): Promise<Outcome> {
    const { name, version } = file;
    const path = join(this.path, name);
    const obstacle = obstacleIn(this.path, name);
    if (obstacle !== null) return { kind: "later", reason: obstacle };
    const imported = file.outcome ?? (await this.#import(name, importFile));
    // Each pause is twice as long as the last one.
    const ms = this.#pause === null ? firstPauseMs : Math.min(2 * this.#pause.ms, maxPauseMs);
    this.#pause = imported.kind === "later" ? { sinceMs: this.now(), ms } : null;
    // The file may have other content by now. To move it away would lose that.
    const outcome = versionOf(entryAt(path)) === version ? imported : changedDuringImport;
    file.outcome = outcome.kind === "later" ? null : outcome;
    // During the import a folder may have become a link.
    const newObstacle = outcome.kind === "later" ? null : obstacleIn(this.path, name);
    if (newObstacle !== null) return { kind: "later", reason: newObstacle };
    const archived = archive(this.path, name, outcome, this.source);
    if (archived !== null) this.#archived.add(archived, name, this.now());
    return outcome;
  }

  /** Imports a file. Deliveries that take too long are divided until the one at fault is alone. */
  async #import(name: string, importFile: ImportFile): Promise<Outcome> {
    const outcome = await importFile(join(this.path, name), rejectsDraft(this.path, name));
    const isLate = outcome.kind === "failed" && outcome.isLate === true;
    if (!isLate || this.source === "uploads" || !divide(this.path, name)) return outcome;
    return { kind: "later", reason: `${outcome.reason} Its deliveries are imported in two parts.` };
  }
}

/** A time of the last write that is in the future says nothing: then only what was seen counts. */
function isStill({ sinceMs, mtimeMs }: SeenFile, nowMs: number): boolean {
  return nowMs - sinceMs >= (nowMs - mtimeMs >= stillMs ? settleMs : stillMs);
}

/** Returns the file of a name; undefined if it is something else, which becomes unusual unless it has just gone. */
function fileIn(folder: string, name: string, unusual: Map<string, string>): Stats | undefined {
  try {
    const found = entryAt(join(folder, name));
    if (found?.isFile()) return found;
    if (found?.isSymbolicLink()) unusual.set(name, "it is a link; replace it with the file itself.");
    else if (found?.isDirectory()) unusual.set(name, "it is a folder; move its files out of it.");
    else if (found !== undefined) unusual.set(name, "it is a pipe, a socket, or a device; replace it with a file.");
    else if (name.includes("\ufffd")) unusual.set(name, "its name is not UTF-8; rename it.");
  } catch (cause) {
    unusual.set(name, `it cannot be opened (${codeOf(cause) || "unknown"}); it is tried again.`);
  }
  return undefined;
}

const changedDuringImport: Outcome = { kind: "later", reason: "It was changed or replaced while it was imported." };

/** Returns whether a file may hold leads: no options, no hidden file, no copy under way, and no backup of an editor. */
export function isDropped(name: string): boolean {
  if (name === optionsFile || name.startsWith(".") || ownFolders.has(name)) return false;
  return !/(?:\.(?:part|partial|tmp|crdownload|filepart|sw[a-p])|~|^#.*#)$/i.test(name);
}

/** An archived file is watched for this time after its import. */
const watchedMs = 24 * 3_600_000;

interface ArchivedFile {
  readonly name: string;
  readonly ino: number;
  readonly version: string;
  readonly sinceMs: number;
  /** The time of the next look. */
  nextMs: number;
}

/** Watches the files in done/ and failed/. A stalled upload may go on there, and a failed file may be corrected there. */
function watchArchived(folder: string) {
  const files = new Map<string, ArchivedFile>();
  let isStarted = false;

  function add(path: string, name: string, sinceMs: number): void {
    const now = entryAt(path);
    if (now?.isFile()) files.set(path, { name, ino: now.ino, version: versionOf(now), sinceMs, nextMs: sinceMs });
  }

  /** Adds the files that were archived before this start. */
  function addEarlier(nowMs: number): void {
    for (const own of ["done", failedFolder]) {
      for (const name of namesIn(join(folder, own))) {
        const path = join(folder, own, name);
        const isReason = own === failedFolder && name.endsWith(".txt");
        if (!isReason && nowMs - (entryAt(path)?.ctimeMs ?? 0) < watchedMs) add(path, name, nowMs);
      }
    }
  }

  return {
    add,
    /** Moves files that have changed back to where they were dropped, and returns their names. */
    bringBack(nowMs: number): string[] {
      if (!isStarted) addEarlier(nowMs);
      isStarted = true;
      const due = [...files].filter(([, { nextMs, sinceMs }]) => nowMs >= nextMs || nowMs < sinceMs);
      return due.flatMap(([path, file]) => {
        const { name, ino, version, sinceMs } = file;
        // An upload that goes on does so soon: the older a file is, the less often it is looked at, up to once a minute.
        file.nextMs = nowMs + Math.min((nowMs - sinceMs) / 10, 60_000);
        const [now, dropped] = [entryAt(path), join(folder, name)];
        // Editors replace it with another file: that is no upload.
        const isSame = now?.ino === ino && now.isFile();
        const isChanged = isSame && versionOf(now) !== version && entryAt(dropped) === undefined;
        if (isChanged) renameSync(path, dropped);
        if (isChanged || !isSame || nowMs - sinceMs > watchedMs) files.delete(path);
        return isChanged ? [name] : [];
      });
    },
  };
}
