/** The inbox: a folder for each account, whose files are imported as they come. */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../src/db/failure.ts";
import { printable, UserError } from "../../../src/runtime/user-error.ts";
import { deleteOldFiles } from "./archive.ts";
import { DropFolder, type FolderParts, Problems } from "./drop-folder.ts";

interface InboxParts extends FolderParts {
  /** Older files in done/ and rejected/ are deleted; null keeps them. */
  readonly keepDays: number | null;
}

/** After this time, new files and new folders are looked for. */
const lookMs = 5_000;
const sweepEveryMs = 3_600_000;

/** An inbox. Nothing is read until `look` is called. */
export class Inbox {
  readonly #parts: InboxParts;
  readonly #folders = new Map<string, DropFolder>();
  readonly #problems: Problems;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly path: string,
    parts: InboxParts,
  ) {
    // File names are untrusted input.
    this.#parts = { ...parts, say: (line) => parts.say(printable(line)) };
    this.#problems = new Problems(this.#parts);
  }

  /**
   * Imports complete files, one of each folder in turn, for some seconds. Returns the number of files that are not complete
   * yet, and whether more are complete than were imported. Throws a UserError if the inbox itself is gone.
   */
  async look() {
    const folders = this.#findFolders();
    this.#sweep(folders);
    const endMs = performance.now() + lookMs;
    let turns = folders.map((folder) => folder.importFiles());
    while (turns.length > 0 && performance.now() < endMs) {
      const next: typeof turns = [];
      for (const turn of turns) if ((await turn.next()).done !== true) next.push(turn);
      turns = next;
    }
    return { waiting: folders.reduce((sum, { waiting }) => sum + waiting, 0), isBusy: turns.length > 0 };
  }

  /** Returns the folders, and reports files that are in none. */
  #findFolders(): DropFolder[] {
    const entries = entriesOf(this.path);
    this.#problems.begin();
    for (const { name } of entries.filter((entry) => !entry.isDirectory())) {
      this.#problems.report(`${name}: it is not in the folder of an account; move it into one.`);
    }
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    for (const name of this.#folders.keys()) if (!names.includes(name)) this.#folders.delete(name);
    return names.map((name) =>
      this.#folders.getOrInsertComputed(name, () => new DropFolder(name, join(this.path, name), this.#parts)),
    );
  }

  /** Deletes old files, at the start and once an hour. */
  #sweep(folders: readonly DropFolder[]): void {
    const { keepDays, now } = this.#parts;
    const nowMs = now();
    if (keepDays === null || Math.abs(nowMs - this.#sweptMs) < sweepEveryMs) return;
    this.#sweptMs = nowMs;
    for (const { path } of folders) deleteOldFiles(path, keepDays, nowMs);
  }
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
