/**
 * The file of the local rqlite node, which is read as a server without a cluster reads its own, but never written. The node
 * may put another file at the path, at a restart or for a snapshot of the leader. Then it is opened again.
 */
import { Database } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { type Connection, DatabaseUnavailable } from "../../src/db/connection.ts";
import { type FileWatch, watchFile } from "../../src/db/file-watch.ts";
import { pendingMigrations } from "../../src/db/migrate.ts";
import { openReader } from "../../src/db/reader.ts";
import { openUsageReader } from "../../src/db/usage.ts";
import { adminCommand } from "../../src/runtime/program-name.ts";
import { openShownWrites } from "./transactions.ts";

export type NodeFile = ReturnType<typeof openNodeFile>;

/** One opening of the file. */
export type Opening = ReturnType<typeof open>;

/** The reads of a server, on one opening. */
export type Serving = ReturnType<typeof openServing>;

/** Watches the file at a path. It is opened when it is first read, and again whenever another file is there. */
export function openNodeFile(path: string) {
  let opened: Opening | null = null;
  let openings = 0;

  /** Returns the current file. Throws DatabaseUnavailable while the node rebuilds it. */
  function current(): Opening {
    for (let isSecond = false; ; isSecond = true) {
      try {
        opened ??= open(path, ++openings);
        // rqlite may also replace the file while it is opened: then the connection and the watch have different files.
        opened.watch.assertSame();
        return opened;
      } catch (cause) {
        release();
        if (!isSecond) continue;
        throw new DatabaseUnavailable(
          `${path} cannot be read: its rqlite node is starting, or has no data yet.`,
          `Try again in a moment. To see how far each node is, run ${adminCommand} cluster status.`,
          1,
          { cause },
        );
      }
    }
  }

  /** Closes the file until it is needed again. */
  function release(): void {
    opened?.close();
    opened = null;
  }

  return { path, current, release, [Symbol.dispose]: release };
}

function open(path: string, number: number) {
  using closing = new DisposableStack();
  const watch = closing.adopt(watchFile(path), ({ close }) => close());
  // Closed at once, with all of its statements. SQLite shares the WAL index between the connections of a process to one file,
  // so a connection that remains open would keep a deleted index in use for all later connections.
  const connection = closing.adopt(openReadOnly(path), ({ $client }) => $client.close(true));
  const shown = openShownWrites(connection);
  // A node that starts has a file without tables until it has restored its snapshot.
  shown.revision();
  const opened = closing.move();
  let serving: Serving | null = null;
  return {
    ...shown,
    connection,
    watch,
    close: () => opened.dispose(),
    /** The number of this opening, counted from 1. */
    number,
    /** Prepares the reads of requests. Throws if the schema of the file is too old for them. */
    serving: () => (serving ??= openServing(connection, path, watch)),
  };
}

function openServing(connection: Connection, path: string, watch: FileWatch) {
  // A newer schema can also be read, as long as it has what this version needs.
  if (pendingMigrations(connection).length > 0) {
    throw new DatabaseUnavailable("The cluster has the schema of an earlier version.", "Run cluster migrate.");
  }
  // `current` detects a replaced file, and opens the new one.
  const reader = openReader(connection, path, { ...watch, assertSame() {} });
  // Each commit of rqlite, of which there are several per second, empties the cache. A large one costs more than it saves.
  connection.$client.run(`PRAGMA cache_size = -${4 * 1024}`);
  return { reader, usage: openUsageReader(connection) };
}

/** Opens a file that rqlite writes, for reading only. One process must have only one such connection to a file. */
export function openReadOnly(path: string): Connection {
  const client = new Database(path, { readonly: true });
  // Reads never wait for the writer, but rqlite may lock the file briefly when it replaces it.
  client.run("PRAGMA busy_timeout = 100");
  // Sorting must not leave personal data in a folder of temporary files.
  client.run("PRAGMA temp_store = MEMORY");
  return drizzle({ client });
}
