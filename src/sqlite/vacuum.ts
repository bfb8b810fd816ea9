/** What handles the whole file at once, and may not fit into memory. */
import { dirname } from "node:path";
import type { Connection } from "./connection.ts";

/** Writes the whole file anew, without anything that was deleted. Readers go on meanwhile, writers wait. */
export function vacuum(database: Connection): void {
  withTemporaryFiles(database, () => database.$client.run("VACUUM"));
}

/**
 * Does something for which SQLite may keep as much aside as the file has: in files beside it, which have no name from the
 * moment they are open. A container may have no other place to write in, and what is held on people stays on its disk.
 */
export function withTemporaryFiles(database: Connection, work: () => void): void {
  const client = database.$client;
  client.run(`PRAGMA temp_store_directory = '${dirname(client.filename).replaceAll("'", "''")}'`);
  client.run("PRAGMA temp_store = FILE");
  try {
    work();
  } finally {
    client.run("PRAGMA temp_store = MEMORY");
  }
}
