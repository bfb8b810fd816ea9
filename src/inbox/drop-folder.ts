/** One folder into which files are dropped: which of them are complete, and where they go once they were imported. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";

/** What became of a file. `later` is for a trouble that is not the file's, such as a full disk: it stays where it is. */
export type Outcome =
  | { readonly kind: "done"; readonly rejected: number }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "later"; readonly reason: string };

/** Imports a file, and writes the rows that it rejects to another one. */
export type ImportFile = (file: string, rejects: string) => Promise<Outcome>;

export interface DropFolder {
  /** The names of files whose size and time have not changed for two seconds, oldest first. */
  ready(nowMs: number): string[];
  /** How many files there are, as of the last look at what is ready. */
  waiting(): number;
  /** Imports a file and moves it out of the way. Killed in between, it is imported once more, which changes nothing. */
  take(name: string, importFile: ImportFile): Promise<Outcome>;
}

export const optionsFile = "import.json";
const stillMs = 2_000;

/** `whenDone` says whether a file is kept under done/, or removed because whoever wrote it needs it no more. */
export function openDropFolder(folder: string, whenDone: "keep" | "remove"): DropFolder {
  const seen = new Map<string, { readonly size: number; readonly mtimeMs: number; readonly sinceMs: number }>();

  function isStill(name: string, nowMs: number): boolean {
    const now = statSync(join(folder, name), { throwIfNoEntry: false });
    if (now === undefined || !now.isFile()) return false;
    const before = seen.get(name);
    if (before?.size === now.size && before.mtimeMs === now.mtimeMs) return nowMs - before.sinceMs >= stillMs;
    seen.set(name, { size: now.size, mtimeMs: now.mtimeMs, sinceMs: nowMs });
    return false;
  }

  return {
    ready(nowMs) {
      const names = readdirSync(folder).filter(isDropped);
      for (const name of seen.keys()) if (!names.includes(name)) seen.delete(name);
      const still = names.filter((name) => isStill(name, nowMs));
      return still.toSorted((a, b) => (seen.get(a)?.mtimeMs ?? 0) - (seen.get(b)?.mtimeMs ?? 0));
    },
    waiting: () => seen.size,
    async take(name, importFile) {
      const file = join(folder, name);
      // Written anew by the next try, should this one be killed.
      const rejects = join(folder, `.rejected-${rejectsName(name)}`);
      const outcome = await importFile(file, rejects);
      if (outcome.kind === "done" && outcome.rejected > 0) {
        renameSync(rejects, freePath(folder, "rejected", rejectsName(name)));
      } else rmSync(rejects, { force: true });
      if (outcome.kind === "done") {
        if (whenDone === "keep") renameSync(file, freePath(folder, "done", name));
        else rmSync(file);
      } else if (outcome.kind === "failed") {
        const place = freePath(folder, "failed", name);
        writeFileSync(`${place}.txt`, `${outcome.reason}\n`);
        renameSync(file, place);
      }
      return outcome;
    },
  };
}

/** A copy under way has such a name in many programs; options and hidden files are not leads. */
export function isDropped(name: string): boolean {
  return name !== optionsFile && !name.startsWith(".") && !/\.(?:part|partial|tmp|crdownload|filepart)$/i.test(name);
}

/** Rejected rows are written as plain text, also those of a file that was packed. */
function rejectsName(name: string): string {
  return name.replace(/\.gz$/i, "");
}

/** A path under one of the folders beside the files that nothing has yet. */
function freePath(folder: string, kind: "done" | "rejected" | "failed", name: string): string {
  const place = join(folder, kind);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const { name: stem, ext } = parse(name);
  for (let number = 1; ; number++) {
    const path = join(place, number === 1 ? name : `${stem}-${number}${ext}`);
    if (!existsSync(path)) return path;
  }
}
