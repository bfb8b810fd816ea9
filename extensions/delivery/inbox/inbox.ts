/** The inbox: a folder for each account, whose files are imported as they come. */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { systemCode } from "../../../src/process.ts";
import { printable, UserError } from "../../../src/user-error.ts";
import { type DropFolder, openDropFolder } from "./drop-folder.ts";
import type { Outcome, WhenDone } from "./put-away.ts";
import type { ImportSettings } from "./settings.ts";
import { deleteOldFiles } from "./settled-files.ts";

/** Whose leads the files of a folder are, and how they are read. */
export interface Destination {
  /** The ID or exact name of the account. */
  readonly account: string;
  readonly settings: ImportSettings;
}

interface InboxParts {
  /** Returns where the files of a folder go, or why they cannot be imported. */
  readonly destinationOf: (name: string, path: string) => Destination | { readonly fault: string };
  readonly importFile: (destination: Destination, file: string, rejects: string) => Promise<Outcome>;
  readonly whenDone: WhenDone;
  /** Older files in done/ and rejected/ are deleted; null keeps them. */
  readonly keepDays: number | null;
  readonly now: () => number;
  /** Called with a line for each file that was taken, and for each that waits. */
  readonly say: (line: string) => void;
  /** Called with what became of each file. */
  readonly count?: (outcome: Outcome) => void;
}

export interface Inbox {
  /** Takes settled files, one of each folder in turn, for some seconds. Throws a UserError if the inbox itself is gone. */
  look(): Promise<Looked>;
}

interface Looked {
  /** The number of files that are not settled yet. */
  readonly waiting: number;
  /** Whether there are more settled files than were taken. */
  readonly isBusy: boolean;
}

const noFolder = "it is not in the folder of an account; move it into one.";
/** After this time, new files and new folders are looked for. */
const lookMs = 5_000;

/** What an open inbox knows. */
interface State extends InboxParts {
  readonly folder: string;
  readonly folders: Map<string, DropFolder>;
  readonly complaints: ReturnType<typeof createComplaints>;
  readonly pauses: ReturnType<typeof createPauses>;
}

/** Opens an inbox. Nothing is read until `look` is called. */
export function openInbox(folder: string, parts: InboxParts): Inbox {
  const folders = new Map<string, DropFolder>();
  const state = { ...parts, folder, folders, complaints: createComplaints(parts.say), pauses: createPauses(parts.now) };
  const sweep = createSweep(parts);
  return {
    async look() {
      const entries = entriesOf(folder);
      const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      complainOfStrays(
        state,
        entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name),
      );
      for (const name of folders.keys()) if (!names.includes(name)) folders.delete(name);
      sweep(names.map((name) => join(folder, name)));
      const found = await Promise.all(names.map((name) => apart(state, name, null, () => lookInto(state, name))));
      const waiting = [...folders.values()].reduce((sum, dropped) => sum + dropped.waiting(), 0);
      return {
        waiting,
        isBusy: await takeInTurns(
          state,
          found.filter((turn) => turn !== null),
        ),
      };
    },
  };
}

/** Finds the settled files of a folder. */
function lookInto(state: State, name: string): Turn | null {
  const { folder, folders, complaints, pauses, count, now } = state;
  const dropped = folders.getOrInsertComputed(name, () => openDropFolder(join(folder, name), state.whenDone));
  const files = dropped.settled(now());
  const remarks = dropped.remarks();
  for (const [file, why] of remarks) complaints.add(`${name}/${file}`, `${name}/${file}: ${why}`);
  complaints.keepOnly(name, remarks);
  if (files.length === 0 || pauses.isPaused(name)) return null;
  const destination = state.destinationOf(name, join(folder, name));
  if (!("fault" in destination)) return { name, dropped, destination, files };
  for (const _ of files) count?.({ kind: "later", reason: destination.fault });
  complaints.add(name, `${name}/: ${destination.fault}`);
  return null;
}

/** Takes one file of each folder after the other, until it is time for the next look. Returns whether files are left. */
async function takeInTurns(state: State, turns: readonly Turn[]): Promise<boolean> {
  const endMs = performance.now() + lookMs;
  let taking = turns;
  let hasMore = false;
  while (taking.length > 0 && performance.now() < endMs) {
    const next: Turn[] = [];
    for (const turn of taking) {
      const file = turn.files.shift();
      const goesOn = file !== undefined && (await apart(state, turn.name, false, () => takeOne(state, turn, file)));
      if (goesOn && turn.files.length > 0) next.push(turn);
      hasMore ||= goesOn && turn.dropped.hasMore();
    }
    taking = next;
  }
  return hasMore || taking.length > 0;
}

/** Takes one file. Returns whether the next one of its folder may be taken. */
async function takeOne(state: State, { name, dropped, destination }: Turn, file: string): Promise<boolean> {
  const { importFile, complaints, pauses, count, now } = state;
  const importOne = async (...paths: [string, string]) => {
    const outcome = await importFile(destination, ...paths);
    pauses.note(name, outcome);
    return outcome;
  };
  const outcome = await dropped.take(file, importOne, now());
  count?.(outcome);
  const line = `${name}/${file}: ${sentenceOf(outcome, pauses.isPaused(name))}`;
  // The next file would meet the same trouble.
  if (outcome.kind === "later") {
    complaints.add(name, line);
    return false;
  }
  complaints.forget(name);
  complaints.tell(line);
  return true;
}

/** Does some work. The trouble of one folder, such as a wrong owner, does not concern the others. */
async function apart<Result>(
  { complaints, count }: State,
  name: string,
  fallback: Result,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const reason = passingTrouble(cause);
    if (reason === null) throw cause;
    count?.({ kind: "later", reason });
    complaints.add(name, `${name}/: ${reason}`);
    return fallback;
  }
}

/** A file that is in no folder belongs to nobody. */
function complainOfStrays({ complaints, count }: State, names: readonly string[]): void {
  for (const name of names) {
    if (!complaints.isKnown(name)) count?.({ kind: "later", reason: noFolder });
    complaints.add(name, `${name}: ${noFolder}`);
  }
}

/** A folder whose files are taken one by one. */
interface Turn {
  readonly name: string;
  readonly dropped: DropFolder;
  readonly destination: Destination;
  readonly files: string[];
}

/** Says what keeps files or folders from being taken, once until it is over. */
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
    /** Forgets the files of a folder that are not remarked on any more. */
    keepOnly(folder: string, files: ReadonlyMap<string, string>): void {
      const start = `${folder}/`;
      for (const name of known.keys()) {
        if (name.startsWith(start) && !files.has(name.slice(start.length))) known.delete(name);
      }
    },
  };
}

const pauseMs = { first: 1_000, max: 60_000 };

/** Pauses folders in which an import met trouble, such as a full disk: each try would fill it again. */
function createPauses(now: () => number) {
  const pauses = new Map<string, { readonly sinceMs: number; readonly ms: number }>();
  return {
    isPaused(name: string): boolean {
      const pause = pauses.get(name);
      if (pause === undefined) return false;
      const passedMs = now() - pause.sinceMs;
      // A clock that was set back ends it.
      return passedMs >= 0 && passedMs < pause.ms;
    },
    /** Begins a pause, twice as long as the last one, or ends it. */
    note(name: string, outcome: Outcome): void {
      const last = pauses.get(name);
      const ms = last === undefined ? pauseMs.first : Math.min(2 * last.ms, pauseMs.max);
      if (outcome.kind === "later") pauses.set(name, { sinceMs: now(), ms });
      else pauses.delete(name);
    },
  };
}

const sweepEveryMs = 3_600_000;

/** Deletes old files at the start and once an hour. */
function createSweep({ keepDays, now }: InboxParts) {
  let sweptMs = Number.NEGATIVE_INFINITY;
  return (folders: readonly string[]): void => {
    const nowMs = now();
    if (keepDays === null || Math.abs(nowMs - sweptMs) < sweepEveryMs) return;
    sweptMs = nowMs;
    for (const folder of folders) deleteOldFiles(folder, keepDays, nowMs);
  };
}

/** Returns what keeps files waiting and ends nothing, in words; null for any other trouble. */
function passingTrouble(cause: unknown): string | null {
  if (cause instanceof DatabaseUnavailable) return `its files are tried again: ${cause.sentence}`;
  if (cause instanceof Error && "syscall" in cause) return `its files are tried again: ${cause.message}`;
  // A mistake of ours, which one file has met. The files of others must not wait for its correction.
  const isOurs = cause instanceof RangeError || cause instanceof TypeError;
  return isOurs ? `its files are tried again: Leadfile failed (${cause.name}: ${cause.message})` : null;
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
  const { rejected, rejectedFor, remarks = [] } = outcome;
  const why = rejectedFor === undefined ? "" : ` (most often: ${rejectedFor})`;
  const away = rejected === 0 ? [] : [`${rejected} row${rejected === 1 ? "" : "s"} went to rejected/${why}`];
  return ["done", ...away, ...remarks.map((remark) => remark.replace(/\.$/, ""))].join("; ");
}
