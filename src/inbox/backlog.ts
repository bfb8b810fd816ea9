/** What lies in the folders of an inbox, or of the spool: what waits for its import, and what nobody could read. */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDropped } from "./drop-folder.ts";

export interface Backlog {
  readonly bytes: number;
  /** Since when the oldest file waits, in Unix milliseconds; null where none does. */
  readonly sinceMs: number | null;
  /** The folders with files that could not be read, and how many. */
  readonly failed: readonly { readonly folder: string; readonly files: number }[];
}

/** Looks once, at all folders; one that is not there, or may not be read, has nothing. */
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

/** Each file is beside a text that says why; the text is no file of its own. */
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
