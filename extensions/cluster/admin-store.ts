/**
 * The store of the commands on a cluster: what they read lies in the file of the node beside, what they write goes to
 * rqlite. Most of it is the store of a file, on a connection that writes into the cluster.
 */

import type { AdminStore } from "../../src/admin-store.ts";
import { adminStoreOn } from "../../src/admin-store.ts";
import { openPixels } from "../../src/db/pixels.ts";
import { openCapturing } from "./capturing.ts";
import { openClusterDatabase } from "./cluster-database.ts";
import { beginClusterImport } from "./import/import.ts";
import { beginClusterLeads } from "./import/write-planned.ts";
import type { RqliteNode } from "./node/node.ts";
import { openSourceFinder } from "./source-finder.ts";
import { failureOf, openWriter } from "./writer.ts";

interface ClusterAdminSetup {
  /** The SQLite file of the node beside. */
  readonly path: string;
  /** The name of the server beside that node. */
  readonly name: string;
  readonly node: RqliteNode;
  /** Hears the names of nodes that could not be asked, and that answer nobody until they have caught up. */
  readonly onSilent: (names: readonly string[]) => void;
  /** Called with the reason where no majority is heard, so that what is read may be old. */
  readonly onUnheard: (reason: string) => void;
}

/** How long a command looks for a majority before it reads without one. */
const patienceMs = 2_000;

/** Opens it. */
export function openClusterAdminStore({ path, name, node, onSilent, onUnheard }: ClusterAdminSetup): AdminStore {
  const writer = openWriter(path, node, onSilent);
  // What a command beside another node has just written is there to be read.
  try {
    const unheard = failureOf(() => writer.catchUp(patienceMs));
    if (unheard !== null) onUnheard(unheard);
  } catch (cause) {
    writer[Symbol.dispose]();
    throw cause;
  }
  const database = openCapturing(writer);
  const store = adminStoreOn(database);
  // What is written through this one holds on every node when it is done.
  const everywhere = adminStoreOn(openCapturing({ ...writer, commit: writer.commitEverywhere }));
  let finder: ReturnType<typeof openSourceFinder> | null = null;
  const importing = { database, writer, pixels: openPixels(database) };
  const clusterDatabase = openClusterDatabase(path, node, onSilent, writer.file);
  return {
    ...store,
    database: clusterDatabase,
    leads: {
      ...store.leads,
      beginImport: (account, options) => beginClusterLeads(importing, account, options),
    },
    imports: {
      ...store.imports,
      begin: (...asked) => beginClusterImport(importing, ...asked),
    },
    sources: {
      ...store.sources,
      revoke: everywhere.sources.revoke,
      finder: () => (finder ??= openSourceFinder(node, name, writer.file)),
    },
    close() {
      finder?.close();
      writer[Symbol.dispose]();
    },
  };
}
