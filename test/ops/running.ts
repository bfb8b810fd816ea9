/** A server in its own process, its file, and a client with a key. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { aKey, anAccount, openTestDatabase } from "../support/database.ts";
import { aFolder } from "../support/folder.ts";
import { client } from "../support/harness.ts";
import { start } from "../support/process.ts";

/** Creates a key in the file of a server that is not running yet. */
export function keyIn(file: string): string {
  const database = openTestDatabase(file);
  const { secret } = aKey(database, anAccount(database));
  database.close();
  return secret;
}

/** Starts a server on a new file with a key; `again` starts another server on the same file. */
export async function aRunningServer(settings: Readonly<Record<string, string>> = {}) {
  const file = join(aFolder(), "leadfile.db");
  const headers = { Authorization: `Bearer ${keyIn(file)}` };
  async function begin() {
    const server = start({ DATABASE_PATH: file, ...settings });
    const url = await server.listening();
    return { server, url, get: client(url, headers).get };
  }
  return { file, ...(await begin()), again: begin };
}

/** Returns the number of requests that are stored in a file. */
export function requestsIn(file: string): number {
  using database = new Database(file);
  return database.query<{ sum: number }, []>("SELECT coalesce(sum(requests), 0) AS sum FROM usage").get()?.sum ?? -1;
}
