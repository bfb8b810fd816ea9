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
