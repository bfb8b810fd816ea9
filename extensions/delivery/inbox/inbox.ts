/** The inbox: a folder for each account, whose files are imported as they come. */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { codeOf } from "../../../src/db/failure.ts";
import { printable, UserError } from "../../../src/runtime/user-error.ts";
import { deleteOldFiles, type FileSource, type Outcome } from "./archive.ts";
import { DropFolder, type ImportFile } from "./drop-folder.ts";

interface InboxParts {
  /** Returns the import of the files of a folder, or why they cannot be imported. */
  readonly importOf: (name: string, path: string) => ImportFile | { readonly fault: string };
  readonly source: FileSource;
  /** Older files in done/ and rejected/ are deleted; null keeps them. */
  readonly keepDays: number | null;
  readonly now: () => number;
  /** Called with a line for each file that was imported or failed, and for each that waits. */
  readonly say: (line: string) => void;
  /** Called with the outcome of files. */
  readonly count?: (kind: Outcome["kind"], files: number) => void;
}

/** After this time, new files and new folders are looked for. */
const lookMs = 5_000;
const sweepEveryMs = 3_600_000;

/** An inbox. Nothing is read until `look` is called. */
export class Inbox {
  readonly #folders = new Map<string, DropFolder>();
  /** The log lines about files that were not imported in the previous scan. */
  #previous: ReadonlySet<string> = new Set();
  /** The log lines about files that were not imported in this scan. */
  #current = new Set<string>();
  #sweptMs = Number.NEGATIVE_INFINITY;
  /** The files that this look found incomplete. */
  #waiting = 0;

  constructor(
    readonly path: string,
    readonly parts: InboxParts,
  ) {}

  /**
   * Imports complete files, one of each folder in turn, for some seconds. Returns the number of files that are not complete
   * yet, and whether more are complete than were imported. Throws a UserError if the inbox itself is gone.
   */
  async look() {
    [this.#previous, this.#current] = [this.#current, new Set()];
    this.#waiting = 0;
    const folders = this.#findFolders();
    this.#sweep(folders);
    const endMs = performance.now() + lookMs;
    let turns = folders.map((folder) => ({ folder, files: this.#importFrom(folder) }));
    while (turns.length > 0 && performance.now() < endMs) {
      const next: typeof turns = [];
      for (const turn of turns) if (await this.#hasNext(turn.folder, turn.files)) next.push(turn);
      turns = next;
    }
    return { waiting: this.#waiting, isBusy: turns.length > 0 };
  }

  /** Returns the folders, and reports files that are in none. */
  #findFolders(): DropFolder[] {
    const entries = entriesOf(this.path);
    for (const { name } of entries.filter((entry) => !entry.isDirectory())) {
      this.#complain(`${name}: it is not in the folder of an account; move it into one.`, 1);
    }
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    for (const name of this.#folders.keys()) if (!names.includes(name)) this.#folders.delete(name);
    const { source, now } = this.parts;
    return names.map((name) =>
      this.#folders.getOrInsertComputed(name, () => new DropFolder(name, join(this.path, name), source, now)),
    );
  }

  /** Deletes old files, at the start and once an hour. */
  #sweep(folders: readonly DropFolder[]): void {
    const { keepDays, now } = this.parts;
    const nowMs = now();
    if (keepDays === null || Math.abs(nowMs - this.#sweptMs) < sweepEveryMs) return;
    this.#sweptMs = nowMs;
    for (const { path } of folders) deleteOldFiles(path, keepDays, nowMs);
  }

  /** Imports the next file of a folder. Reports a temporary error, such as a wrong owner, without stopping others. */
  async #hasNext(folder: DropFolder, files: AsyncIterator<void>): Promise<boolean> {
    try {
      return (await files.next()).done !== true;
    } catch (cause) {
      const trouble = temporaryTrouble(cause);
      if (trouble === null) throw cause;
      this.#complain(`${folder.name}/: its files are tried again: ${trouble}`, 1);
      return false;
    }
  }

  /** Looks into a folder, then imports its complete files. Yields before each file, so that the folders take turns. */
  async *#importFrom(folder: DropFolder): AsyncGenerator<void, void> {
    const { name, path } = folder;
    if (folder.isPaused) return this.#keepLines(name);
    const pending = folder.names().length;
    const importFile = pending === 0 ? null : this.parts.importOf(name, path);
    if (importFile !== null && "fault" in importFile) return this.#complain(`${name}/: ${importFile.fault}`, pending);
    const { complete, waiting, broughtBack, unusual } = folder.look();
    this.#waiting += waiting;
    // A file that changed while it was taken settles again, and may change again.
    if (waiting > 0) this.#keepLines(name);
    for (const file of broughtBack) this.#say(`${name}/${file}: ${hasChanged}`);
    for (const [file, why] of unusual) this.#complain(`${name}/${file}: ${why}`, 1);
    if (importFile === null) return;
    for (const file of complete) {
      yield;
      const outcome = await folder.take(file, importFile);
      const line = `${name}/${file.name}: ${sentenceOf(outcome, folder.isPaused)}`;
      // The next file would meet the same trouble.
      if (outcome.kind === "later") return this.#complain(line, 1);
      this.parts.count?.(outcome.kind, 1);
      this.#say(line);
    }
  }

  /** Keeps the lines about a folder, which hold until all of its files are looked at again. */
  #keepLines(folder: string): void {
    for (const line of this.#previous) if (line.startsWith(`${folder}/`)) this.#current.add(line);
  }

  /** Says what keeps files from being imported, and counts them, once until it is over. */
  #complain(line: string, files: number): void {
    this.#current.add(line);
    if (this.#previous.has(line)) return;
    this.parts.count?.("later", files);
    this.#say(line);
  }

  /** The names of files are chosen by others. */
  #say(line: string): void {
    this.parts.say(printable(line));
  }
}

const hasChanged =
  "it changed after its import, and is imported again. If the upload had stalled, the last row may be a lead that is cut " +
  "off. Upload the file as .part, then rename it: then it is not taken too early.";

/** Returns the message of a temporary failure, after which the file is tried again; null for any other failure. */
function temporaryTrouble(cause: unknown): string | null {
  if (cause instanceof DatabaseUnavailable) return cause.sentence;
  if (cause instanceof Error && "syscall" in cause) return cause.message;
  // A bug of Leadfile that one file has triggered. The files of others must not wait for the fix.
  const isBug = cause instanceof RangeError || cause instanceof TypeError;
  return isBug ? `Leadfile failed (${cause.name}: ${cause.message})` : null;
}

function entriesOf(inbox: string): Dirent[] {
  try {
    return readdirSync(inbox, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
  } catch (cause) {
    throw new UserError(
      `The folder ${inbox} cannot be read any more (${codeOf(cause) || "unknown"}).`,
      "Restore it, then start the inbox again: its files are imported then.",
    );
  }
}

function sentenceOf(outcome: Outcome, isPaused: boolean): string {
  if (outcome.kind === "failed") return `moved to failed/, with what to do in the .txt next to it: ${outcome.reason}`;
  if (outcome.kind === "later") return `it is tried again${isPaused ? " within a minute" : ""}: ${outcome.reason}`;
  return ["done", ...(outcome.remarks ?? []).map((remark) => remark.replace(/\.$/, ""))].join("; ");
}
