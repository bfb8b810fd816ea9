/** The file of the node beside as a command reads it: opened again where the node has put another one in its place. */
import type { Connection } from "../../src/db/connection.ts";
import { inodeOf } from "../../src/db/file.ts";
import { revision } from "../../src/db/schema.ts";
import { StoreError } from "../../src/store/errors.ts";
import { openNumberOf } from "./last-write.ts";
import { openReadOnly } from "./replica.ts";

export interface LocalFile extends Disposable {
  readonly path: string;
  /** A connection to the file as it lies there now. Throws a StoreError while the node is at work on it. */
  current(): Connection;
  /** The count of the revision that the file shows. */
  revision(): number;
  /** The number that the file has for a write; undefined where it does not show it. */
  numberOf(id: string): number | undefined;
}

export function openLocalFile(path: string): LocalFile {
  let inode: number | undefined;
  let database: Connection | null = null;

  function current(): Connection {
    const now = inodeOf(path);
    if (database !== null && now === inode) return database;
    database?.$client.close();
    database = null;
    inode = now;
    database = openWhole(path);
    return database;
  }

  return {
    path,
    current,
    revision: () => current().select({ count: revision.count }).from(revision).get()?.count ?? 0,
    numberOf: (id) => openNumberOf(current())(id),
    [Symbol.dispose]: () => database?.$client.close(),
  };
}

/** A node that starts has no file for a moment, or one without tables, until it has read its snapshot. */
function openWhole(path: string): Connection {
  let database: Connection | null = null;
  try {
    database = openReadOnly(path);
    database.select({ count: revision.count }).from(revision).get();
    return database;
  } catch (cause) {
    database?.$client.close();
    throw new StoreError({ kind: "node at work", path }, { cause });
  }
}
