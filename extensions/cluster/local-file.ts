/** The file of the local rqlite node, as a command reads it: opened again if the node has replaced it. */
import { Database } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { type Connection, DatabaseUnavailable } from "../../src/db/connection.ts";
import { shmOf, walOf } from "../../src/db/database-files.ts";
import { inodeOf } from "../../src/db/open.ts";
import { adminCommand } from "../../src/program-name.ts";
import { openChainOf, openLastPosition, openRevision, type Position } from "./transaction.ts";

export interface LocalFile extends Disposable {
  readonly path: string;
  /** A connection to the current file. Throws DatabaseUnavailable while the node rebuilds it. */
  current(): Connection;
  /** The revision that the file shows. */
  revision(): number;
  /** The chain at a transaction; undefined if the file does not show it. */
  chainOf(id: string): number | undefined;
  /** The last transaction that the file shows; null if there is none. */
  lastPosition(): Position | null;
  /** Closes the connection until it is needed again. */
  release(): void;
}

/** The inodes of the file, its log, and the index of the log. A node that restarts may replace any of them. */
type Inodes = readonly (number | undefined)[];

export function inodesOf(path: string): Inodes {
  return [path, walOf(path), shmOf(path)].map(inodeOf);
}

export function isSame(before: Inodes, now: Inodes): boolean {
  return before.every((inode, place) => inode === now[place]);
}

const maxTries = 5;

interface Opened {
  readonly database: Connection;
  readonly inodes: Inodes;
  readonly revision: () => number;
  readonly chainOf: (id: string) => number | undefined;
  readonly lastPosition: () => Position | null;
}

export function openLocalFile(path: string): LocalFile {
  let opened: Opened | null = null;

  function current(): Opened {
    if (opened !== null && isSame(opened.inodes, inodesOf(path))) return opened;
    release();
    const { database, inodes } = openStable(path);
    opened = {
      database,
      inodes,
      revision: openRevision(database),
      chainOf: openChainOf(database),
      lastPosition: openLastPosition(database),
    };
    return opened;
  }

  function release(): void {
    opened?.database.$client.close();
    opened = null;
  }

  return {
    path,
    release,
    current: () => current().database,
    revision: () => current().revision(),
    chainOf: (id) => current().chainOf(id),
    lastPosition: () => current().lastPosition(),
    [Symbol.dispose]: release,
  };
}

/** Opens a file that rqlite does not replace at the same time: one would be read, and the other one watched. */
function openStable(path: string): { readonly database: Connection; readonly inodes: Inodes } {
  for (let tries = 1; ; tries++) {
    const before = inodesOf(path);
    const database = openWhole(path);
    const inodes = inodesOf(path);
    // SQLite creates the index if rqlite does not run.
    if (isSame(before, inodes) || tries === maxTries) return { database, inodes };
    database.$client.close();
  }
}

/** A node that starts has no file at first, or one without tables, until it has restored its snapshot. */
function openWhole(path: string): Connection {
  let database: Connection | null = null;
  try {
    database = openReadOnly(path);
    openRevision(database)();
    return database;
  } catch {
    database?.$client.close();
    throw new DatabaseUnavailable(
      `${path} cannot be read: its rqlite node is starting, or has no data yet.`,
      `Try again in a moment. To see how far each node is, run ${adminCommand} cluster status.`,
    );
  }
}

/**
 * A connection that is closed at once, with all of its statements. SQLite shares the index of the log between the connections
 * of a process to one file, so one that remains open would keep a deleted index in use for all later ones.
 */
class ReadOnlyDatabase extends Database {
  /** By their text. A statement that only the garbage collector finalizes would keep the connection open until then. */
  readonly #statements = new Map<string, ReturnType<Database["prepare"]>>();

  // biome-ignore lint/suspicious/noExplicitAny: this is the signature of Bun.
  override prepare(text: string): any {
    return this.#statements.getOrInsertComputed(text, () => super.prepare(text));
  }

  override close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
    super.close();
  }
}

/** Opens a file that rqlite writes, for reading only. One process must have only one such connection to a file. */
export function openReadOnly(path: string): Connection {
  const client = new ReadOnlyDatabase(path, { readonly: true });
  // Reads never wait for the writer, but rqlite may lock the file for a moment when it replaces it.
  client.run("PRAGMA busy_timeout = 100");
  // Sorting must not leave personal data in a folder of temporary files.
  client.run("PRAGMA temp_store = MEMORY");
  return drizzle({ client });
}
