/** The backlog of an inbox or of the spool: files that wait for their import, and files that could not be read. */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDropped } from "./drop-folder.ts";

export interface Backlog {
  readonly bytes: number;
  /** When the oldest waiting file came, in Unix milliseconds; null where none waits. */
  readonly sinceMs: number | null;
  /** The folders with files that could not be read, and how many. */
  readonly failed: readonly { readonly folder: string; readonly files: number }[];
}

/** Looks once at all folders. A folder that cannot be read counts as empty. */
export function readBacklog(folder: string): Backlog {
  const folders = entriesOf(folder).filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
  const paths = folders.map(({ name }) => join(folder, name));
  const files = paths.flatMap((path) => waitingIn(path));
  return {
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    sinceMs: files.length === 0 ? null : Math.min(...files.map(({ sinceMs }) => sinceMs)),
    failed: paths.map(failedIn).filter(({ files }) => files > 0),
  };
}

function waitingIn(folder: string): { readonly bytes: number; readonly sinceMs: number }[] {
  const files = entriesOf(folder).filter((entry) => entry.isFile() && (isDropped(entry.name) || isBeingWritten(entry)));
  return files.flatMap(({ name }) => {
    // The import may have taken it in this very moment.
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return found === undefined ? [] : [{ bytes: found.size, sinceMs: found.mtimeMs }];
  });
}

const isBeingWritten = ({ name }: Dirent) => name.endsWith(".part");

/** Beside each failed file a text says why. The text does not count. */
function failedIn(folder: string): { readonly folder: string; readonly files: number } {
  const place = join(folder, "failed");
  const names = new Set(entriesOf(place).map(({ name }) => name));
  const files = [...names].filter((name) => !(name.endsWith(".txt") && names.has(name.slice(0, -".txt".length))));
  return { folder: place, files: files.length };
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
