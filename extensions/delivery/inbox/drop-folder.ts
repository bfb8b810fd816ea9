/** One folder into which files are dropped: finds those that are complete, and imports and archives each. */
import { readdirSync, renameSync, type Stats } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../../src/process.ts";
import {
  archive,
  entryAt,
  type FileSource,
  failedFolder,
  linkIn,
  namesIn,
  type Outcome,
  obstacleIn,
  ownFolders,
  rejectsDraft,
  versionOf,
} from "./archive.ts";

/** Imports a file, and writes the rows that it rejects to another one. */
type ImportFile = (file: string, rejects: string) => Promise<Outcome>;

/** The files of one folder, as seen at one time. */
interface Seen {
  /** The next complete files, the oldest first. */
  readonly complete: string[];
  /** The number of files that are not among those. */
  readonly waiting: number;
  /** True if some of those are complete as well. */
  readonly hasMore: boolean;
  /** Entries that are not imported, each with the reason to say. */
  readonly remarks: ReadonlyMap<string, string>;
}

/** A file as it was when it was last seen to change. */
interface SeenFile {
  readonly size: number;
  readonly mtimeMs: number;
  readonly sinceMs: number;
  readonly isFile: boolean;
}

export const optionsFile = "import.json";
/** Of many thousands of files, only these are looked at once a second: a look at each would take too long. */
const maxLookedAt = 100;

/** A folder into which files are dropped. It remembers the files that it has seen. */
export class DropFolder {
  readonly #settleMs: number;
  readonly #archived: ReturnType<typeof watchArchived>;
  readonly #seen = new Map<string, SeenFile>();
  /** The outcomes of files that could not be moved away: they need no second import. */
  readonly #unmoved = new Map<string, { readonly version: string; readonly outcome: Outcome }>();

  constructor(
    readonly path: string,
    readonly source: FileSource,
  ) {
    this.#settleMs = source === "uploads" ? 2_000 : 0;
    this.#archived = watchArchived(path);
  }

  /** Looks at new files, and at those that may be complete by now. */
  look(nowMs: number): Seen {
    const seen = this.#seen;
    const remarks = new Map(this.#archived.bringBack(nowMs).map((name) => [name, hasChanged]));
    const names = new Set(readdirSync(this.path).filter(isDropped));
    for (const name of seen.keys()) if (!names.has(name)) seen.delete(name);
    for (const name of names) if (!seen.has(name)) this.#lookAt(name, nowMs, remarks);
    // Other entries are looked at each time: each may have become a file.
    const others = [...seen].filter(([, { isFile }]) => !isFile).slice(0, maxLookedAt);
    for (const [name] of others) this.#lookAt(name, nowMs, remarks);
    const files = [...seen].filter(([, { isFile }]) => isFile);
    const due = files
      .filter(([, { sinceMs }]) => nowMs - sinceMs >= this.#settleMs || sinceMs > nowMs)
      .sort(([a, one], [b, other]) => one.mtimeMs - other.mtimeMs || (a < b ? -1 : 1));
    const looked = due.slice(0, maxLookedAt).map(([name]) => name);
    const complete = looked.filter((name) => this.#lookAt(name, nowMs, remarks));
    return { complete, waiting: files.length - complete.length, hasMore: due.length > maxLookedAt, remarks };
  }

  /** Looks at an entry. Returns whether it is a complete file. */
  #lookAt(name: string, nowMs: number, remarks: Map<string, string>): boolean {
    const now = entryIn(this.path, name, remarks);
    const { size, mtimeMs } = now ?? { size: 0, mtimeMs: Number.POSITIVE_INFINITY };
    const isFile = now?.isFile() === true;
    const before = this.#seen.get(name);
    // A clock that was set back starts the time again.
    const isSame = before?.size === size && before.mtimeMs === mtimeMs && before.sinceMs <= nowMs;
    const sinceMs = isSame ? before.sinceMs : nowMs;
    this.#seen.set(name, { size, mtimeMs, sinceMs, isFile });
    return isFile && nowMs - sinceMs >= this.#settleMs;
  }

  /** Imports a file and archives it. If it is killed in between, the file is imported again, which changes nothing. */
  async take(name: string, importFile: ImportFile, nowMs: number): Promise<Outcome> {
    const obstacle = obstacleIn(this.path, name, this.source);
    if (obstacle !== null) return { kind: "later", reason: obstacle };
    const file = join(this.path, name);
    const version = versionOf(entryAt(file));
    const known = this.#unmoved.get(name);
    const imported = known?.version === version ? known.outcome : await importFile(file, rejectsDraft(this.path, name));
    // The file has other content by now. To move it away would lose that.
    const outcome = versionOf(entryAt(file)) === version ? imported : changedDuringImport;
    if (outcome.kind !== "later") this.#unmoved.set(name, { version, outcome });
    // During the import a folder may have become a link.
    const link = linkIn(this.path, name);
    if (link !== null) return { kind: "later", reason: link };
    const place = archive(this.path, name, outcome, this.source, nowMs);
    if (place !== null) this.#archived.add(place, name, nowMs);
    this.#unmoved.delete(name);
    return outcome;
  }
}

/** Returns the entry of a name. Adds a remark if it is never imported. */
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

/** Returns why an entry is never imported; null for a file. */
function whyNever(name: string, found: Stats | undefined): string | null {
  if (found === undefined) return name.includes("\ufffd") ? "its name is not UTF-8; rename it." : null;
  if (found.isSymbolicLink()) return "it is a link; put the file itself in its place.";
  return found.isDirectory() ? "it is a folder; move its files out of it." : null;
}

const hasChanged =
  "it changed after its import, and is imported again. If the upload had stalled, the last row may be a lead that is cut " +
  "off. Upload the file as .part, then rename it: then it is not taken too early.";

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

  function add(place: string, name: string, sinceMs: number): void {
    const now = entryAt(place);
    if (now?.isFile()) files.set(place, { name, ino: now.ino, version: versionOf(now), sinceMs, nextMs: sinceMs });
  }

  /** Adds the files that were archived before this start. */
  function addEarlier(nowMs: number): void {
    for (const own of ["done", failedFolder]) {
      for (const name of namesIn(join(folder, own))) {
        const place = join(folder, own, name);
        const isReason = own === failedFolder && name.endsWith(".txt");
        if (!isReason && nowMs - (entryAt(place)?.ctimeMs ?? 0) < watchedMs) add(place, name, nowMs);
      }
    }
  }

  /** Looks at a file. Returns whether it has changed, and was moved back. */
  function isBroughtBack(place: string, file: ArchivedFile, nowMs: number): boolean {
    // An upload that goes on does so soon: the older a file is, the less often it is looked at, up to once a minute.
    file.nextMs = nowMs + Math.min((nowMs - file.sinceMs) / 10, 60_000);
    const now = entryAt(place);
    // Editors put another file in its place: that is no upload.
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
      if (!isStarted) addEarlier(nowMs);
      isStarted = true;
      const due = [...files].filter(([, { nextMs, sinceMs }]) => nowMs >= nextMs || nowMs < sinceMs);
      return due.flatMap(([place, file]) => (isBroughtBack(place, file, nowMs) ? [file.name] : []));
    },
  };
}
