/** One folder into which files are dropped: finds those that are complete, and imports and archives each. */
import { readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { codeOf } from "../../../src/db/failure.ts";
import { UserError } from "../../../src/runtime/user-error.ts";
import {
  archive,
  divide,
  entryAt,
  type FileSource,
  type Outcome,
  obstacleIn,
  ownFolders,
  rejectsDraft,
  versionOf,
  watchArchived,
} from "./archive.ts";

/** Imports a file, and writes the rows that it rejects to another one. */
export type ImportFile = (file: string, rejects: string) => Promise<Outcome>;

/** The parts of an inbox that each of its folders needs. */
export interface FolderParts {
  /** Returns the import of the files of a folder; throws a UserError that says why they cannot be imported. */
  readonly importOf: (name: string, path: string) => ImportFile;
  readonly source: FileSource;
  readonly now: () => number;
  /** Called with a line for each file that was imported or failed, and for each that waits. */
  readonly say: (line: string) => void;
  /** Called with the outcome of files. */
  readonly count?: (kind: Outcome["kind"], files: number) => void;
}

/** The problems that keep files from being imported. Each is reported once until it is over. */
export class Problems {
  #before: ReadonlySet<string> = new Set();
  #current = new Set<string>();

  constructor(readonly parts: Pick<FolderParts, "say" | "count">) {}

  /** Begins a look at the files. A problem is over unless it is reported again, or kept. */
  begin(): void {
    [this.#before, this.#current] = [this.#current, new Set()];
  }

  /** Keeps the problems of the last look, until all files are looked at again. */
  keep(): void {
    for (const line of this.#before) this.#current.add(line);
  }

  report(line: string, files = 1): void {
    this.#current.add(line);
    if (this.#before.has(line)) return;
    this.parts.count?.("later", files);
    this.parts.say(line);
  }
}

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
  readonly #problems: Problems;
  readonly #archived: ReturnType<typeof watchArchived>;
  #seen: ReadonlyMap<string, SeenFile> = new Map();
  /** No file is imported during this time: each try would, for example, fill the disk again. */
  #pause: { readonly sinceMs: number; readonly ms: number } | null = null;
  /** The number of files that may still be written to. */
  waiting = 0;

  constructor(
    readonly name: string,
    readonly path: string,
    readonly parts: FolderParts,
  ) {
    this.#archived = watchArchived(path);
    this.#problems = new Problems(parts);
  }

  /**
   * Imports the complete files. Yields before each file, so that folders take turns. A temporary failure does not stop other
   * folders.
   */
  async *importFiles(): AsyncGenerator<void, void> {
    try {
      yield* this.#importFiles();
    } catch (cause) {
      const trouble = temporaryFailure(cause);
      if (trouble === null) throw cause;
      this.#problems.report(`${this.name}/: its files are tried again: ${trouble}`);
    }
  }

  async *#importFiles(): AsyncGenerator<void, void> {
    const { name, path, parts } = this;
    const problems = this.#problems;
    this.waiting = 0;
    if (this.#isPaused) return;
    problems.begin();
    const pending = readdirSync(path).filter(isDropped);
    let importFile: ImportFile | null = null;
    try {
      if (pending.length > 0) importFile = parts.importOf(name, path);
    } catch (cause) {
      if (!(cause instanceof UserError) || cause instanceof DatabaseUnavailable) throw cause;
      return problems.report(`${name}/: ${cause.sentence}`, pending.length);
    }
    const complete = this.#look();
    if (importFile === null) return;
    for (const file of complete) {
      yield;
      const outcome = await this.#take(file, importFile);
      const line = `${name}/${file.name}: ${sentenceOf(outcome, this.#isPaused)}`;
      // The next file would fail for the same reason.
      if (outcome.kind === "later") return problems.report(line);
      parts.count?.(outcome.kind, 1);
      parts.say(line);
    }
  }

  /** True for some time after an import that failed for a reason other than the file. Setting the clock back ends the pause. */
  get #isPaused(): boolean {
    const pausedMs = this.#pause === null ? -1 : this.parts.now() - this.#pause.sinceMs;
    return pausedMs >= 0 && pausedMs < (this.#pause?.ms ?? 0);
  }

  /** Checks all entries, and reports what keeps some from being imported. Returns the complete files, the oldest first. */
  #look(): SeenFile[] {
    const { name, path, parts } = this;
    const nowMs = parts.now();
    for (const file of this.#archived.bringBack(nowMs)) parts.say(`${name}/${file}: ${hasChanged}`);
    const unusual = new Map<string, string>();
    const files = readdirSync(path)
      .filter(isDropped)
      .flatMap((file): SeenFile[] => {
        const found = fileIn(path, file, unusual);
        if (found === undefined) return [];
        const [version, before] = [versionOf(found), this.#seen.get(file)];
        // If the clock was set back, the waiting time starts again.
        if (before?.version === version && before.sinceMs <= nowMs) return [before];
        return [{ name: file, version, mtimeMs: found.mtimeMs, sinceMs: nowMs, outcome: null }];
      });
    this.#seen = new Map(files.map((file) => [file.name, file]));
    const complete = files
      .filter((file) => parts.source === "deliveries" || isStill(file, nowMs))
      .sort((one, other) => one.mtimeMs - other.mtimeMs || (one.name < other.name ? -1 : 1));
    this.waiting = files.length - complete.length;
    // A file that changed during its import waits again, and may change again.
    if (this.waiting > 0) this.#problems.keep();
    for (const [file, why] of unusual) this.#problems.report(`${name}/${file}: ${why}`);
    return complete;
  }

  /** Imports a file and archives it. If the process is killed in between, the file is imported again, which changes nothing. */
  async #take(file: SeenFile, importFile: ImportFile): Promise<Outcome> {
    const { path, parts } = this;
    const obstacle = obstacleIn(path, file.name);
    if (obstacle !== null) return { kind: "later", reason: obstacle };
    const imported = file.outcome ?? (await this.#import(file.name, importFile));
    // Each pause is twice as long as the last one.
    const ms = this.#pause === null ? firstPauseMs : Math.min(2 * this.#pause.ms, maxPauseMs);
    this.#pause = imported.kind === "later" ? { sinceMs: parts.now(), ms } : null;
    // The file may have new content by now, which would be lost if the file were archived.
    const outcome = versionOf(entryAt(join(path, file.name))) === file.version ? imported : changedDuringImport;
    file.outcome = outcome.kind === "later" ? null : outcome;
    // During the import a folder may have become a link.
    const newObstacle = outcome.kind === "later" ? null : obstacleIn(path, file.name);
    if (newObstacle !== null) return { kind: "later", reason: newObstacle };
    const archived = archive(path, file.name, outcome, parts.source);
    if (archived !== null) this.#archived.add(archived, file.name, parts.now());
    return outcome;
  }

  /** Imports a file. Deliveries that take too long are divided until the one at fault is alone. */
  async #import(name: string, importFile: ImportFile): Promise<Outcome> {
    const outcome = await importFile(join(this.path, name), rejectsDraft(this.path, name));
    const isLate = outcome.kind === "failed" && outcome.isLate === true;
    if (!isLate || this.parts.source === "uploads" || !divide(this.path, name)) return outcome;
    return { kind: "later", reason: `${outcome.reason} Its deliveries are imported in two parts.` };
  }
}

const hasChanged =
  "it changed after its import, and is imported again. If the upload had stalled, the last row may be a lead that is cut " +
  "off. To prevent this, upload the file as .part, then rename it.";
const changedDuringImport: Outcome = { kind: "later", reason: "It was changed or replaced while it was imported." };

/** Returns whether a file has not changed for long enough. A modification time in the future counts as a recent one. */
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

/** Returns whether a file may hold leads: no options, no hidden file, no copy under way, and no backup of an editor. */
export function isDropped(name: string): boolean {
  if (name === optionsFile || name.startsWith(".") || ownFolders.has(name)) return false;
  return !/(?:\.(?:part|partial|tmp|crdownload|filepart|sw[a-p])|~|^#.*#)$/i.test(name);
}

/** Returns the message of a temporary failure, after which the file is tried again; null for any other failure. */
function temporaryFailure(cause: unknown): string | null {
  if (cause instanceof DatabaseUnavailable) return cause.sentence;
  if (cause instanceof Error && "syscall" in cause) return cause.message;
  // A bug of Leadfile that one file has triggered. The files of others must not wait for the fix.
  const isBug = cause instanceof RangeError || cause instanceof TypeError;
  return isBug ? `Leadfile failed (${cause.name}: ${cause.message})` : null;
}

function sentenceOf(outcome: Outcome, isPaused: boolean): string {
  if (outcome.kind === "failed") return `moved to failed/, with what to do in the .txt next to it: ${outcome.reason}`;
  if (outcome.kind === "later") return `it is tried again${isPaused ? " within a minute" : ""}: ${outcome.reason}`;
  return ["done", ...(outcome.remarks ?? []).map((remark) => remark.replace(/\.$/, ""))].join("; ");
}
