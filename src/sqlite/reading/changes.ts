/** Whether anybody else has written to the file: it is asked before any request is answered (§5). */
import type { Connection } from "../connection.ts";

/** Gives another number when another connection has committed something, in this program or another. */
export function watchChanges(database: Connection): () => number {
  const version = database.$client.prepare<{ data_version: number }, []>("PRAGMA data_version");
  return () => version.get()?.data_version ?? Number.NaN;
}
