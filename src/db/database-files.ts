/** The files of one database, as SQLite names them beside one another. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The log: what was committed and is not copied into the file yet. */
export function walOf(path: string): string {
  return `${path}-wal`;
}

/** The index of the log, which all programs that have the file open share. */
export function shmOf(path: string): string {
  return `${path}-shm`;
}

/**
 * The folder of what vendors have delivered, until it is imported: beside the file, on the same disk. Beside a node's file
 * rqlite alone may write, so that it is in the folder in which the program runs.
 */
export function spoolOf(path: string): string {
  return isFileOfNode(path) ? "leadfile.db.spool" : `${path}.spool`;
}

/** The file, and all that may lie beside it while it is open. */
export function filesOf(path: string): string[] {
  return [path, walOf(path), shmOf(path), `${path}-journal`];
}

/** The file that a server holds a lock on while it serves the database. */
export function serverLockOf(path: string): string {
  return `${path}.serving`;
}

/**
 * The small file in which writers request the lock, there only while somebody has much to write. One that a kill has left
 * is used by the next import.
 */
export function lockRequestsOf(path: string): string {
  return `${path}.asking`;
}

/** The log of a node of rqlite: it lies beside a file that rqlite alone may write. */
export function raftLogOf(path: string): string {
  return join(dirname(path), "raft.db");
}

/** Whether rqlite alone may write a file: the log of its node lies beside it. */
export function isFileOfNode(path: string): boolean {
  return existsSync(raftLogOf(path));
}
