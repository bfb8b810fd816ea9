/** Work on the whole file at once, which may not fit into memory. */
import { dirname } from "node:path";
import type { Connection } from "./connection.ts";

/** Writes the whole file anew, without anything that was deleted. Readers go on meanwhile, writers wait. */
export function vacuum(database: Connection): void {
  withTemporaryFiles(database, () => database.$client.run("VACUUM"));
}

/**
 * Does work for which SQLite may need as much space as the file has: in temporary files beside the file, which have no
 * name once they are open. A container may have no other place to write, and the data of people stays on its disk.
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
