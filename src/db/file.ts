/** The database file as the file system sees it. */
import { closeSync, openSync, readSync, statSync } from "node:fs";

const signature = Buffer.from("SQLite format 3\0");

/**
 * Whether a file begins as every SQLite database does; an empty file is a database without tables. Ask before SQLite
 * opens the file, never after: closing any descriptor of a file drops all locks that the process has on it.
 */
export function isSqlite(path: string): boolean {
  using file = openFile(path, "r");
  return statSync(path).size === 0 || beginsLikeSqlite(file.descriptor);
}

/** Whether an open file begins as an SQLite database; an empty one does not. */
export function beginsLikeSqlite(file: number): boolean {
  const head = Buffer.alloc(signature.length);
  readSync(file, head, 0, head.length, 0);
  return head.equals(signature);
}

/** A file that is closed where the block ends which uses it. */
export function openFile(path: string, flags: "r" | "wx"): Disposable & { readonly descriptor: number } {
  const descriptor = openSync(path, flags, 0o600);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** The size of a file in bytes; 0 where there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Which file a path leads to; undefined where there is none. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Finds a descriptor to read the bytes of a file with, which must not be closed; null where there is no such file. */
export type Descriptors = (path: string) => number | null;

/**
 * Opens files that SQLite may have open as well, each once. None is closed for as long as the process lives: closing one
 * would drop the locks of SQLite.
 */
export function keepDescriptors(): Descriptors {
  const kept = new Map<string, { readonly file: number; readonly inode: number }>();
  return (path) => {
    const inode = inodeOf(path);
    if (inode === undefined) return null;
    const known = kept.get(path);
    if (known?.inode === inode) return known.file;
    const file = openSync(path, "r");
    kept.set(path, { file, inode });
    return file;
  };
}
