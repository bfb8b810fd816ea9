/** The inbox: a folder for each account, whose files are imported as they come. */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { systemCode } from "../../../src/process.ts";
import { printable, UserError } from "../../../src/user-error.ts";
import { deleteOldFiles, type FileSource, type Outcome } from "./archive.ts";
import { DropFolder } from "./drop-folder.ts";
import type { ImportSettings } from "./settings.ts";

/** The account of the files in a folder, and how they are read. */
export interface Destination {
  /** The ID or exact name of the account. */
  readonly account: string;
  readonly settings: ImportSettings;
}

interface InboxParts {
  /** Returns where the files of a folder go, or why they cannot be imported. */
  readonly destinationOf: (name: string, path: string) => Destination | { readonly fault: string };
  readonly importFile: (destination: Destination, file: string, rejects: string) => Promise<Outcome>;
  readonly source: FileSource;
  /** Older files in done/ and rejected/ are deleted; null keeps them. */
  readonly keepDays: number | null;
  readonly now: () => number;
  /** Called with a line for each file that was imported or failed, and for each that waits. */
  readonly say: (line: string) => void;
  /** Called with the outcome of each file. */
  readonly count?: (outcome: Outcome) => void;
}

interface Looked {
  /** The number of files that are not complete yet. */
  readonly waiting: number;
  /** True if more files are complete than were imported. */
  readonly isBusy: boolean;
}

/** A folder of the inbox. */
interface AccountFolder {
  readonly name: string;
  readonly path: string;
  readonly dropped: DropFolder;
  /** No file is imported during this time: each try would, for example, fill the disk again. */
  pause: { readonly sinceMs: number; readonly ms: number } | null;
}

/** The complete files of a folder, which are imported one by one. */
interface Turn {
  readonly folder: AccountFolder;
  readonly destination: Destination;
  readonly files: string[];
  readonly hasMore: boolean;
}

const noFolder = "it is not in the folder of an account; move it into one.";
/** After this time, new files and new folders are looked for. */
const lookMs = 5_000;
const pauseMs = { first: 1_000, max: 60_000 };
const sweepEveryMs = 3_600_000;

/** An inbox. Nothing is read until `look` is called. */
export class Inbox {
  readonly #folders = new Map<string, AccountFolder>();
  readonly #complaints: ReturnType<typeof createComplaints>;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly path: string,
    readonly parts: InboxParts,
  ) {
    this.#complaints = createComplaints(parts.say);
  }

  /** Imports complete files, one of each folder in turn, for some seconds. Throws a UserError if the inbox itself is gone. */
  async look(): Promise<Looked> {
    const folders = this.#findFolders();
    this.#sweep(folders);
    const nothing = { waiting: 0, turn: null };
    const looked = await Promise.all(
      folders.map((folder) => this.#apart(folder, nothing, () => this.#lookInto(folder))),
    );
    const isBusy = await this.#takeInTurns(looked.flatMap(({ turn }) => turn ?? []));
    return { waiting: looked.reduce((sum, { waiting }) => sum + waiting, 0), isBusy };
  }

  /** Returns the folders by name, and reports what is in none. */
  #findFolders(): AccountFolder[] {
    const entries = entriesOf(this.path);
    for (const { name } of entries.filter((entry) => !entry.isDirectory())) {
      if (!this.#complaints.isKnown(name)) this.parts.count?.({ kind: "later", reason: noFolder });
      this.#complaints.add(name, `${name}: ${noFolder}`);
    }
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    for (const name of this.#folders.keys()) if (!names.includes(name)) this.#folders.delete(name);
    return names.map((name) => {
      const path = join(this.path, name);
      const open = () => ({ name, path, dropped: new DropFolder(path, this.parts.source), pause: null });
      return this.#folders.getOrInsertComputed(name, open);
    });
  }

  /** Deletes old files, at the start and once an hour. */
  #sweep(folders: readonly AccountFolder[]): void {
    const { keepDays, now } = this.parts;
    const nowMs = now();
    if (keepDays === null || Math.abs(nowMs - this.#sweptMs) < sweepEveryMs) return;
    this.#sweptMs = nowMs;
    for (const { path } of folders) deleteOldFiles(path, keepDays, nowMs);
  }

  /** Does some work. The trouble of one folder, such as a wrong owner, does not concern the others. */
  async #apart<Result>({ name }: AccountFolder, fallback: Result, work: () => Result | Promise<Result>) {
    try {
      return await work();
    } catch (cause) {
      const reason = temporaryTrouble(cause);
      if (reason === null) throw cause;
      this.parts.count?.({ kind: "later", reason });
      this.#complaints.add(name, `${name}/: ${reason}`);
      return fallback;
    }
  }

  /** Finds the complete files of a folder. */
  #lookInto(folder: AccountFolder): { readonly waiting: number; readonly turn: Turn | null } {
    const { destinationOf, now, count } = this.parts;
    const { name, path, dropped } = folder;
    const { complete: files, waiting, hasMore, remarks } = dropped.look(now());
    for (const [file, why] of remarks) this.#complaints.add(`${name}/${file}`, `${name}/${file}: ${why}`);
    this.#complaints.keepOnly(name, remarks);
    if (files.length === 0 || isPaused(folder, now())) return { waiting, turn: null };
    const destination = destinationOf(name, path);
    if (!("fault" in destination)) return { waiting, turn: { folder, destination, files, hasMore } };
    for (const _ of files) count?.({ kind: "later", reason: destination.fault });
    this.#complaints.add(name, `${name}/: ${destination.fault}`);
    return { waiting, turn: null };
  }

  /** Imports one file of each folder after the other, until it is time for the next look. Returns whether files are left. */
  async #takeInTurns(turns: readonly Turn[]): Promise<boolean> {
    const endMs = performance.now() + lookMs;
    let taking = turns;
    let hasMore = false;
    while (taking.length > 0 && performance.now() < endMs) {
      const next: Turn[] = [];
      for (const turn of taking) {
        const file = turn.files.shift();
        const goesOn = file !== undefined && (await this.#apart(turn.folder, false, () => this.#takeOne(turn, file)));
        if (goesOn && turn.files.length > 0) next.push(turn);
        hasMore ||= goesOn && turn.hasMore;
      }
      taking = next;
    }
    return hasMore || taking.length > 0;
  }

  /** Imports one file. Returns whether the next one of its folder may be imported. */
  async #takeOne({ folder, destination }: Turn, file: string): Promise<boolean> {
    const { importFile, now, count } = this.parts;
    const importOne = async (...paths: [string, string]) => {
      const outcome = await importFile(destination, ...paths);
      folder.pause = outcome.kind === "later" ? nextPause(folder, now()) : null;
      return outcome;
    };
    const outcome = await folder.dropped.take(file, importOne, now());
    count?.(outcome);
    const line = `${folder.name}/${file}: ${sentenceOf(outcome, isPaused(folder, now()))}`;
    // The next file would meet the same trouble.
    if (outcome.kind === "later") {
      this.#complaints.add(folder.name, line);
      return false;
    }
    this.#complaints.forget(folder.name);
    this.#complaints.tell(line);
    return true;
  }
}

/** A clock that was set back ends a pause. */
function isPaused({ pause }: AccountFolder, nowMs: number): boolean {
  return pause !== null && nowMs >= pause.sinceMs && nowMs - pause.sinceMs < pause.ms;
}

/** Returns a pause that is twice as long as the last one. */
function nextPause({ pause }: AccountFolder, nowMs: number): NonNullable<AccountFolder["pause"]> {
  return { sinceMs: nowMs, ms: pause === null ? pauseMs.first : Math.min(2 * pause.ms, pauseMs.max) };
}

/** Says what keeps files or folders from being imported, once until it is over. */
function createComplaints(say: InboxParts["say"]) {
  const known = new Map<string, string>();
  // Whoever may drop files chooses their names.
  const tell = (line: string) => say(printable(line));
  return {
    tell,
    add(name: string, line: string): void {
      if (known.get(name) !== line) tell(line);
      known.set(name, line);
    },
    isKnown: (name: string) => known.has(name),
    forget: (name: string) => void known.delete(name),
    /** Forgets the files of a folder that have no remark any more. */
    keepOnly(folder: string, files: ReadonlyMap<string, string>): void {
      const start = `${folder}/`;
      for (const name of known.keys()) {
        if (name.startsWith(start) && !files.has(name.slice(start.length))) known.delete(name);
      }
    },
  };
}

/** Returns what keeps files waiting and ends nothing, in words; null for any other trouble. */
function temporaryTrouble(cause: unknown): string | null {
  if (cause instanceof DatabaseUnavailable) return `its files are tried again: ${cause.sentence}`;
  if (cause instanceof Error && "syscall" in cause) return `its files are tried again: ${cause.message}`;
  // A bug of Leadfile that one file has triggered. The files of others must not wait for the fix.
  const isBug = cause instanceof RangeError || cause instanceof TypeError;
  return isBug ? `its files are tried again: Leadfile failed (${cause.name}: ${cause.message})` : null;
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
