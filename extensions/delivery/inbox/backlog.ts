/** What an inbox or the spool holds: files that wait for their import, files that could not be read, and rejected rows. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDropped } from "./drop-folder.ts";
import { namesIn } from "./put-away.ts";

/** Things of one kind in one folder, or in all of them. */
export interface Pile {
  /** Files; of rejected rows, the rows. */
  readonly count: number;
  readonly bytes: number;
  /** The time of the oldest file, in Unix milliseconds; null if there is none. */
  readonly sinceMs: number | null;
}

export interface FolderBacklog {
  readonly name: string;
  readonly path: string;
  readonly waiting: Pile;
  readonly failed: Pile;
  readonly rejected: Pile;
}

/** Looks once at all folders. A folder that cannot be read counts as empty. */
export function readBacklog(folder: string): FolderBacklog[] {
  return namesIn(folder)
    .filter((name) => !name.startsWith("."))
    .map((name) => ({ name, path: join(folder, name) }))
    .filter(({ path }) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .map(({ name, path }) => {
      const failed = namesIn(join(path, "failed"));
      const texts = new Set(failed.map((file) => `${file}.txt`));
      return {
        name,
        path,
        waiting: pileOf(
          path,
          namesIn(path).filter((file) => isDropped(file) || file.endsWith(".part")),
        ),
        // The text next to each failed file says why, and does not count.
        failed: pileOf(
          join(path, "failed"),
          failed.filter((file) => !texts.has(file)),
        ),
        rejected: pileOf(join(path, "rejected"), namesIn(join(path, "rejected")), rowsIn),
      };
    });
}

/** Adds up the same kind of things of several folders. */
export function total(folders: readonly FolderBacklog[], kind: "waiting" | "failed" | "rejected"): Pile {
  return sum(folders.map((folder) => folder[kind]));
}

function sum(piles: readonly Pile[]): Pile {
  const times = piles.flatMap(({ sinceMs }) => sinceMs ?? []);
  return {
    count: piles.reduce((all, { count }) => all + count, 0),
    bytes: piles.reduce((all, { bytes }) => all + bytes, 0),
    sinceMs: times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other)),
  };
}

function pileOf(folder: string, names: readonly string[], countIn: (path: string) => number = () => 1): Pile {
  const piles = names.flatMap((name) => {
    const path = join(folder, name);
    // The import may have taken it in this moment.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) return [];
    const { size, mtimeMs } = found;
    return [{ count: countIn(path), bytes: size, sinceMs: mtimeMs }];
  });
  return sum(piles);
}

/** Files larger than this are not counted row by row. */
const maxCountedBytes = 64 * 1024 * 1024;

/** Returns the rejected rows in a file: its lines, without the header of CSV. A row with line breaks counts as several. */
function rowsIn(path: string): number {
  try {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return 0;
    let lines = bytes.at(-1) === 10 ? 0 : 1;
    for (let at = bytes.indexOf(10); at !== -1 && at < maxCountedBytes; at = bytes.indexOf(10, at + 1)) lines++;
    return bytes[0] === 0x7b ? lines : Math.max(1, lines - 1);
  } catch {
    return 1;
  }
}
