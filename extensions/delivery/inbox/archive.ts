/** Moves imported files to done/, unreadable files to failed/ with the reason next to them, and rejected rows to rejected/. */
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { join, parse } from "node:path";
import { dayMs } from "../../../src/contract/calendar.ts";
import { codeOf } from "../../../src/db/failure.ts";

/**
 * The outcome of a file. `remarks` and `reason` go into a log and contain no personal data; `advice` may, and is only
 * written next to the file. `later`: something else is wrong, such as a full disk. The file stays, and is tried again.
 */
export type Outcome =
  | { readonly kind: "done"; readonly rejected: number; readonly remarks?: readonly string[] }
  /** `isLate` if it took too long: one of its rows may be at fault, and not the others. */
  | { readonly kind: "failed"; readonly reason: string; readonly advice?: string; readonly isLate?: boolean }
  | { readonly kind: "later"; readonly reason: string };

/**
 * `uploads` may still be written to: a file is imported once it has been still for 30 seconds, and then kept in done/.
 * `deliveries` are complete under their name, and removed after their import.
 */
export type FileSource = "uploads" | "deliveries";

const doneFolder = "done";
export const rejectedFolder = "rejected";
export const failedFolder = "failed";
export const ownFolders: ReadonlySet<string> = new Set([doneFolder, rejectedFolder, failedFolder]);
/** File systems take 255 bytes. A few are left for a number and an extension. */
const maxNameBytes = 240;

/**
 * Returns the reason why a file could not be moved after its import, or would be moved to another folder; null if there is
 * none. A user who can add files could use a link to write into the folder of another account, or overwrite any other file.
 */
export function obstacleIn(folder: string, name: string): string | null {
  const isLink = "is a link; remove it first.";
  const draft = rejectsDraft(folder, name);
  if (entryAt(draft)?.isSymbolicLink()) return `${draft} ${isLink}`;
  if (entryAt(join(folder, name))?.isFile() !== true) return "it was replaced or removed.";
  const disk = entryAt(folder)?.dev;
  for (const path of [folder, ...[...ownFolders].map((own) => join(folder, own))]) {
    const found = entryAt(path);
    if (found === undefined) continue;
    if (found.isSymbolicLink()) return `${path} ${isLink}`;
    if (found.dev !== disk) return `${path} is on another disk; move it to the disk of the inbox.`;
    try {
      // Only a folder has a dot in it.
      accessSync(`${path}/.`, constants.W_OK | constants.X_OK);
    } catch (cause) {
      return `${path} cannot store imported files (${codeOf(cause) || "unknown"}); make it a writable folder.`;
    }
  }
  return null;
}

/** Returns the entry at a path; of a link the link itself, wherever it leads. Undefined if there is none. */
export function entryAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Returns another text for a file that was written to, replaced, or removed; empty if there is no file. */
export function versionOf(now: Stats | undefined): string {
  return now?.isFile() === true ? `${now.ino} ${now.size} ${now.mtimeMs}` : "";
}

/** Returns the path for the rejected rows of a file while it is imported. A try after a kill writes them anew. */
export function rejectsDraft(folder: string, name: string): string {
  return join(folder, `.rejected-${shortened(rejectsName(name))}`);
}

/** Rejected rows are plain text, even if the file was compressed. */
function rejectsName(name: string): string {
  return name.replace(/\.gz$/i, "");
}

/** Moves a file and its rejected rows by its outcome. Returns the new path of the file; null if it was not moved. */
export function archive(folder: string, name: string, outcome: Outcome, source: FileSource): string | null {
  const file = join(folder, name);
  const rejects = rejectsDraft(folder, name);
  if (outcome.kind !== "done" || outcome.rejected === 0) rmSync(rejects, { force: true });
  // An earlier try that could not move the file has moved them.
  else if (existsSync(rejects)) renameSync(rejects, unusedPath(folder, rejectedFolder, rejectsName(name)));
  if (outcome.kind === "later") return null;
  if (outcome.kind === "done" && source === "deliveries") {
    rmSync(file);
    return null;
  }
  const target = unusedPath(folder, outcome.kind, name);
  if (outcome.kind === "failed") {
    // By now there may be a link, also one to nowhere: it is not followed.
    writeFileSync(`${target}.txt`, `${`${outcome.reason} ${outcome.advice ?? ""}`.trim()}\n`, { flag: "wx" });
  }
  renameSync(file, target);
  return target;
}

/** Divides a file of deliveries into two, and removes it. Returns false if it has only one delivery. */
export function divide(folder: string, name: string): boolean {
  const lines = readFileSync(join(folder, name), "utf8").split(/(?<=\n)/);
  if (lines.length < 2) return false;
  const half = Math.ceil(lines.length / 2);
  const { name: stem, ext } = parse(name);
  for (const [number, some] of [lines.slice(0, half), lines.slice(half)].entries()) {
    const path = join(folder, `${stem}-${number + 1}`);
    writeFileSync(`${path}.part`, some.join(""), { mode: 0o600, flush: true });
    renameSync(`${path}.part`, `${path}${ext}`);
  }
  rmSync(join(folder, name));
  return true;
}

/** Returns a path in one of the three folders without a file, and without one next to it for the text that says why. */
function unusedPath(folder: string, own: string, name: string): string {
  const ownFolder = join(folder, own);
  mkdirSync(ownFolder, { recursive: true, mode: 0o700 });
  const { name: stem, ext } = parse(shortened(name));
  for (let number = 1; ; number++) {
    const path = join(ownFolder, number === 1 ? `${stem}${ext}` : `${stem}-${number}${ext}`);
    const reason = own === failedFolder ? entryAt(`${path}.txt`) : undefined;
    if (entryAt(path) === undefined && reason === undefined) return path;
  }
}

/** Cuts the beginning of a name that is too long. It keeps its end, such as .csv. */
function shortened(name: string): string {
  const letters = [...name];
  while (Buffer.byteLength(letters.join("")) > maxNameBytes) letters.shift();
  return letters.join("");
}

/** Returns the names in a folder; none if it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Deletes files that have been in done/ or rejected/ of a folder for more than some days: they contain personal data. */
export function deleteOldFiles(folder: string, keepDays: number, nowMs: number): void {
  for (const own of [doneFolder, rejectedFolder].map((name) => join(folder, name))) {
    // A link could lead to the files of somebody else.
    if (entryAt(own)?.isDirectory() !== true) continue;
    for (const path of namesIn(own).map((name) => join(own, name))) {
      try {
        const found = entryAt(path);
        // The time of the last change to its content may be long before its upload.
        if (found?.isFile() && nowMs - found.ctimeMs > keepDays * dayMs) rmSync(path, { force: true });
      } catch {
        // It is tried again in an hour.
      }
    }
  }
}

/** The time for which an archived file is watched after its import. */
const watchedMs = 24 * 3_600_000;

interface ArchivedFile {
  readonly name: string;
  readonly ino: number;
  readonly version: string;
  readonly sinceMs: number;
  /** The time of the next check. */
  nextMs: number;
}

/** Watches the files in done/ and failed/. A stalled upload may continue there, and a failed file may be corrected there. */
export function watchArchived(folder: string) {
  const files = new Map<string, ArchivedFile>();

  function add(path: string, name: string, sinceMs: number): void {
    const now = entryAt(path);
    if (now?.isFile()) files.set(path, { name, ino: now.ino, version: versionOf(now), sinceMs, nextMs: sinceMs });
  }

  /** Adds the files that were archived before this process started. */
  let addEarlier: ((nowMs: number) => void) | null = (nowMs) => {
    for (const own of [doneFolder, failedFolder]) {
      for (const name of namesIn(join(folder, own))) {
        const path = join(folder, own, name);
        const isReason = own === failedFolder && name.endsWith(".txt");
        if (!isReason && nowMs - (entryAt(path)?.ctimeMs ?? 0) < watchedMs) add(path, name, nowMs);
      }
    }
    addEarlier = null;
  };

  return {
    add,
    /** Moves files that have changed back to where they were dropped, and returns their names. */
    bringBack(nowMs: number): string[] {
      addEarlier?.(nowMs);
      const due = [...files].filter(([, { nextMs, sinceMs }]) => nowMs >= nextMs || nowMs < sinceMs);
      return due.flatMap(([path, file]) => {
        const { name, ino, version, sinceMs } = file;
        // A stalled upload continues soon or never: the older a file is, the less often it is checked, down to once a minute.
        file.nextMs = nowMs + Math.min((nowMs - sinceMs) / 10, 60_000);
        const [now, dropped] = [entryAt(path), join(folder, name)];
        // Editors replace a file with a new one, which is not an upload.
        const isSame = now?.ino === ino && now.isFile();
        const isChanged = isSame && versionOf(now) !== version && entryAt(dropped) === undefined;
        if (isChanged) renameSync(path, dropped);
        if (isChanged || !isSame || nowMs - sinceMs > watchedMs) files.delete(path);
        return isChanged ? [name] : [];
      });
    },
  };
}
