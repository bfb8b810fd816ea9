/** The inbox: a folder for each account, whose files are imported as they come. */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { systemCode } from "../../../src/process.ts";
import { printable, UserError } from "../../../src/user-error.ts";
import { deleteOldFiles, type FileSource, type Outcome } from "./archive.ts";
import { DropFolder, type ImportFile, type SeenFile } from "./drop-folder.ts";

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

interface Looked {
  /** The number of files that are not complete yet. */
  readonly waiting: number;
  /** True if more files are complete than were imported. */
  readonly isBusy: boolean;
}

/** The complete files of a folder, which are imported one by one. */
interface Turn {
  readonly folder: DropFolder;
  readonly importFile: ImportFile;
  readonly files: SeenFile[];
  readonly waiting: number;
}

/** After this time, new files and new folders are looked for. */
const lookMs = 5_000;
const sweepEveryMs = 3_600_000;

/** An inbox. Nothing is read until `look` is called. */
export class Inbox {
  readonly #folders = new Map<string, DropFolder>();
  /** The lines about files that are not imported, as the last look found them. */
  #before: ReadonlySet<string> = new Set();
  /** The same lines, as this look finds them. */
  #now = new Set<string>();
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly path: string,
    readonly parts: InboxParts,
  ) {}

  /** Imports complete files, one of each folder in turn, for some seconds. Throws a UserError if the inbox itself is gone. */
  async look(): Promise<Looked> {
    [this.#before, this.#now] = [this.#now, new Set()];
    const folders = this.#findFolders();
    this.#sweep(folders);
    const looked = await Promise.all(folders.map((folder) => this.#apart(folder, () => this.#lookInto(folder))));
    const turns = looked.filter((turn) => turn !== null);
    const endMs = performance.now() + lookMs;
    let taking = turns.filter(({ files }) => files.length > 0);
    while (taking.length > 0 && performance.now() < endMs) {
      const next: Turn[] = [];
      for (const turn of taking) if (await this.#apart(turn.folder, () => this.#takeNext(turn))) next.push(turn);
      taking = next;
    }
    return { waiting: turns.reduce((sum, { waiting }) => sum + waiting, 0), isBusy: taking.length > 0 };
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

  /** Does some work. The trouble of one folder, such as a wrong owner, is reported, and does not concern the others. */
  async #apart<Result>(folder: DropFolder, work: () => Result | Promise<Result>): Promise<Result | null> {
    try {
      return await work();
    } catch (cause) {
      const trouble = temporaryTrouble(cause);
      if (trouble === null) throw cause;
      this.#complain(`${folder.name}/: its files are tried again: ${trouble}`, 1);
      return null;
    }
  }

  /** Finds the complete files of a folder; null if none of its files can be imported now. */
  #lookInto(folder: DropFolder): Turn | null {
    const { name, path } = folder;
    if (folder.isPaused) {
      this.#keepLines(name);
      return null;
    }
    const pending = folder.names().length;
    const importFile = pending === 0 ? null : this.parts.importOf(name, path);
    if (importFile !== null && "fault" in importFile) {
      this.#complain(`${name}/: ${importFile.fault}`, pending);
      return null;
    }
    const { complete: files, waiting, broughtBack, unusual } = folder.look();
    // A file that changed while it was taken settles again, and may change again.
    if (waiting > 0) this.#keepLines(name);
    for (const file of broughtBack) this.#say(`${name}/${file}: ${hasChanged}`);
    for (const [file, why] of unusual) this.#complain(`${name}/${file}: ${why}`, 1);
    return importFile === null ? null : { folder, importFile, files, waiting };
  }

  /** Imports the next file of a folder. Returns whether the one after it may be imported too. */
  async #takeNext({ folder, importFile, files }: Turn): Promise<boolean> {
    const file = files.shift();
    if (file === undefined) return false;
    const outcome = await folder.take(file, importFile);
    const line = `${folder.name}/${file.name}: ${sentenceOf(outcome, folder.isPaused)}`;
    if (outcome.kind === "later") {
      // The next file would meet the same trouble.
      this.#complain(line, 1);
      return false;
    }
    this.parts.count?.(outcome.kind, 1);
    this.#say(line);
    return files.length > 0;
  }

  /** Keeps the lines about a folder, which hold until all of its files are looked at again. */
  #keepLines(folder: string): void {
    for (const line of this.#before) if (line.startsWith(`${folder}/`)) this.#now.add(line);
  }

  /** Says what keeps files from being imported, and counts them, once until it is over. */
  #complain(line: string, files: number): void {
    this.#now.add(line);
    if (this.#before.has(line)) return;
    this.parts.count?.("later", files);
    this.#say(line);
  }

  /** Whoever may drop files chooses their names. */
  #say(line: string): void {
    this.parts.say(printable(line));
  }
}

const hasChanged =
  "it changed after its import, and is imported again. If the upload had stalled, the last row may be a lead that is cut " +
  "off. Upload the file as .part, then rename it: then it is not taken too early.";

/** Returns what keeps files waiting and ends nothing, in words; null for any other trouble. */
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
      `The folder ${inbox} cannot be read any more (${systemCode(cause) ?? "unknown"}).`,
      "Restore it, then start the inbox again: its files are imported then.",
    );
  }
}

function sentenceOf(outcome: Outcome, isPaused: boolean): string {
  if (outcome.kind === "failed") return `moved to failed/, with what to do in the .txt next to it: ${outcome.reason}`;
  if (outcome.kind === "later") return `it is tried again${isPaused ? " within a minute" : ""}: ${outcome.reason}`;
  return ["done", ...(outcome.remarks ?? []).map((remark) => remark.replace(/\.$/, ""))].join("; ");
}
