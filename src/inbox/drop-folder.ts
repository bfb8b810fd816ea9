/** One folder into which files are dropped: which of them are complete, and where they go after the import. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";

/** What became of a file. `later`: something else is wrong, such as a full disk. The file stays, and is tried again. */
export type Outcome =
  | { readonly kind: "done"; readonly rejected: number }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "later"; readonly reason: string };

/** Imports a file, and writes the rows that it rejects to another one. */
type ImportFile = (file: string, rejects: string) => Promise<Outcome>;

export interface DropFolder {
  /** The complete files: their size and time have not changed for two seconds. Oldest first. */
  ready(nowMs: number): string[];
  /** How many files there were at the last call of `ready`. */
  waiting(): number;
  /** Imports a file and moves it away. A kill in between has it imported again, which changes nothing. */
  take(name: string, importFile: ImportFile): Promise<Outcome>;
}

export const optionsFile = "import.json";
const stillMs = 2_000;

/** `whenDone` says whether an imported file is kept under done/, or removed. */
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
      // If this try is killed, the next one writes it anew.
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

/** Whether a file may hold leads: no options, no hidden file, and no copy under way, as many programs name one. */
export function isDropped(name: string): boolean {
  return name !== optionsFile && !name.startsWith(".") && !/\.(?:part|partial|tmp|crdownload|filepart)$/i.test(name);
}

/** Rejected rows are plain text, even where the file was gzipped. */
function rejectsName(name: string): string {
  return name.replace(/\.gz$/i, "");
}

/** A path in one of the three folders at which there is no file yet. */
function freePath(folder: string, kind: "done" | "rejected" | "failed", name: string): string {
  const place = join(folder, kind);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const { name: stem, ext } = parse(name);
  for (let number = 1; ; number++) {
    const path = join(place, number === 1 ? name : `${stem}-${number}${ext}`);
    if (!existsSync(path)) return path;
  }
}
