/** Where a dropped file goes after its import: done/, failed/ with the reason beside it, and rejected/ for its rejects. */
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, parse } from "node:path";
import { systemCode } from "../../../src/process.ts";

/**
 * What became of a file; `remarks` are for its owner. `reason` and `rejectedFor`, the most frequent reason of a rejection, go
 * into a log and contain no personal data; `advice` may, and is only written next to the file. `later`: something else
 * is wrong, such as a full disk. The file stays, and is tried again.
 */
export type Outcome =
  | {
      readonly kind: "done";
      readonly rejected: number;
      readonly rejectedFor?: string | undefined;
      readonly remarks?: readonly string[];
    }
  | { readonly kind: "failed"; readonly reason: string; readonly advice?: string }
  | { readonly kind: "later"; readonly reason: string };

/** Whether an imported file is kept under done/, or removed. */
export type WhenDone = "keep" | "remove";

export const rejectedFolder = "rejected";
export const ownFolders: ReadonlySet<string> = new Set(["done", rejectedFolder, "failed"]);
const mostNameBytes = 240;

/**
 * What would lead a file or its rejects elsewhere; null for nothing. Whoever may drop files could lead what is written
 * into the folder of another account, or over any other file.
 */
export function linkIn(folder: string, name: string): string | null {
  const link = [...[...ownFolders].map((own) => join(folder, own)), rejectsDraft(folder, name)].find(isLink);
  return link === undefined ? null : `${link} is a link; remove it first.`;
}

/** What would keep a file where it is after its import, or lead it or its rejects elsewhere; null for nothing. */
export function hindranceIn(folder: string, name: string, whenDone: WhenDone): string | null {
  const link = linkIn(folder, name);
  if (link !== null) return link;
  if (entryAt(join(folder, name))?.isFile() !== true) return "it was replaced or removed.";
  const wanted = whenDone === "keep" ? ["done", rejectedFolder] : [rejectedFolder];
  const there = wanted.map((own) => join(folder, own)).filter(isThere);
  for (const place of [folder, ...there]) {
    try {
      // Only a folder has a dot in it.
      accessSync(`${place}/.`, constants.W_OK | constants.X_OK);
    } catch (cause) {
      return `${place} takes no file after its import (${systemCode(cause) ?? "unknown"}); mend that first.`;
    }
  }
  const disk = entryAt(folder)?.dev;
  const apart = [...ownFolders].map((own) => join(folder, own)).find((own) => (entryAt(own)?.dev ?? disk) !== disk);
  return apart === undefined ? null : `${apart} is on another disk, to which no file can be renamed; mend that first.`;
}

/** What lies at a path, of a link the link itself; undefined for nothing. */
export function entryAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Returns another text for a file that was written to, replaced, or removed; empty if there is no file. */
export function versionOf(now: Stats | undefined): string {
  return now?.isFile() === true ? `${now.ino} ${now.size} ${now.mtimeMs}` : "";
}

function isLink(path: string): boolean {
  return entryAt(path)?.isSymbolicLink() === true;
}

/** Where the rejects of a file are written while it is imported. If a try is killed, the next one writes them anew. */
export function rejectsDraft(folder: string, name: string): string {
  return join(folder, `.rejected-${fitting(rejectsName(name))}`);
}

/** Moves a file and its rejects to where they belong by its outcome. Returns the path of the moved file; null if there is none. */
export function putAway(
  folder: string,
  name: string,
  outcome: Outcome,
  whenDone: WhenDone,
  nowMs: number,
): string | null {
  const rejects = rejectsDraft(folder, name);
  if (outcome.kind === "done" && outcome.rejected > 0) keepRejects(folder, name, rejects);
  else rmSync(rejects, { force: true });
  if (outcome.kind === "failed") return putFailedAway(folder, name, outcome);
  return outcome.kind === "done" ? putDoneAway(folder, name, whenDone, nowMs) : null;
}

function putDoneAway(folder: string, name: string, whenDone: WhenDone, nowMs: number): string | null {
  const file = join(folder, name);
  if (whenDone === "remove") {
    rmSync(file);
    return null;
  }
  const place = freePath(folder, "done", name);
  renameSync(file, place);
  try {
    // It is kept for some days from now on, however old the upload says it is.
    utimesSync(place, nowMs / 1000, nowMs / 1000);
  } catch {
    // The file of another user keeps its time.
  }
  return place;
}

/** The reason lies beside it. */
function putFailedAway(
  folder: string,
  name: string,
  { reason, advice = "" }: Extract<Outcome, { kind: "failed" }>,
): string {
  const place = freePath(folder, "failed", name);
  // By now a link may lie there, also one to nowhere: it is not followed.
  writeFileSync(`${place}.txt`, `${`${reason} ${advice}`.trim()}\n`, { flag: "wx" });
  renameSync(join(folder, name), place);
  return place;
}

/** Nothing is left of them to move where that was done before, and only the file itself could not be moved. */
function keepRejects(folder: string, name: string, rejects: string): void {
  if (existsSync(rejects)) renameSync(rejects, freePath(folder, rejectedFolder, rejectsName(name)));
}

/** Rejected rows are plain text, even where the file was gzipped. */
function rejectsName(name: string): string {
  return name.replace(/\.gz$/i, "");
}

/** A path in one of the three folders at which there is no file yet, nor one beside it for the text that says why. */
function freePath(folder: string, kind: "done" | typeof rejectedFolder | "failed", name: string): string {
  const place = join(folder, kind);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const { name: stem, ext } = parse(fitting(name));
  for (let number = 1; ; number++) {
    const path = join(place, number === 1 ? `${stem}${ext}` : `${stem}-${number}${ext}`);
    if (!isThere(path) && !(kind === "failed" && isThere(`${path}.txt`))) return path;
  }
}

/** A link counts, wherever it leads. */
function isThere(path: string): boolean {
  return entryAt(path) !== undefined;
}

/** A name to which a few letters can be added: file systems take 255 bytes. It keeps its end, such as .csv. */
function fitting(name: string): string {
  const letters = [...name];
  while (Buffer.byteLength(letters.join("")) > mostNameBytes) letters.shift();
  return letters.join("");
}

/** The names in a folder; none if it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
