/** Opens the database of the local rqlite node, for a server and for commands. */
import type { CommandDatabase } from "../../src/cli/command.ts";
import type { ClusterConfig } from "../../src/config.ts";
import { DatabaseUnavailable } from "../../src/db/connection.ts";
import { innermost, isDatabaseFailure } from "../../src/db/failure.ts";
import { findSourceByDigest, type SourceFinder } from "../../src/db/sources.ts";
import type { Databases } from "../../src/extension.ts";
import { printMessage } from "../../src/process.ts";
import { adminCommand } from "../../src/program-name.ts";
import { openClusterBackups } from "./backups.ts";
import { type ClusterDatabase, openClusterDatabase, reasonFor } from "./database.ts";
import { openLeasedFile } from "./lease/leased-file.ts";
import { nodeAt } from "./node.ts";
import { openNodeFile } from "./node-file.ts";
import { openClusterStore } from "./served-store.ts";

/** The time for which a command looks for a majority before it reads without one. */
const patienceMs = 2_000;

export function clusterDatabases(path: string, cluster: ClusterConfig): Databases {
  const node = nodeAt(cluster);
  const database = openClusterDatabase(openNodeFile(path), node, nameUnreachable);
  return {
    openForServing: async (keepsLedger) => openClusterStore(path, node, cluster.name, keepsLedger),
    async prepareForCommands() {
      const open = () => openForCommands(database, cluster.name);
      try {
        const reason = await reasonFor(database.catchUp(patienceMs));
        if (reason === null) return open;
        return () => {
          warnOfAge(reason);
          return open();
        };
      } catch (cause) {
        // Commands such as cluster status do not open the database.
        return () => {
          throw cause;
        };
      } finally {
        database.close();
      }
    },
    openBackups: async () => openClusterBackups(database, warnOfAge),
  };
}

function openForCommands(database: ClusterDatabase, name: string): CommandDatabase {
  let leased: ReturnType<typeof openLeasedFile> | null = null;
  return Object.assign(database, {
    importer: async () => (await import("./import.ts")).clusterImporter(database),
    async sourceFinder() {
      leased ??= openLeasedFile(database.file, database.node, { name, process: null });
      return sourceFinderOn(leased);
    },
    close() {
      leased?.end();
      database.file.release();
    },
  });
}

/** Finds sources under a lease, so that a revoked source is accepted by no node, even one that does not know of it yet. */
function sourceFinderOn({ reading, version }: ReturnType<typeof openLeasedFile>): SourceFinder {
  const find = reading(({ connection }, digest: Buffer) => findSourceByDigest(connection, digest));
  return {
    findByDigest(digest) {
      try {
        version();
        return find(digest);
      } catch (cause) {
        if (!isDatabaseFailure(cause)) throw cause;
        const advice = `To see the state of the cluster, run ${adminCommand} cluster status.`;
        throw new DatabaseUnavailable(`Sources cannot be looked up (${innermost(cause)}).`, advice);
      }
    },
  };
}

function nameUnreachable(names: readonly string[]): void {
  const who =
    names.length === 1 ? `${names[0]} is unreachable. It serves` : `${names.join(", ")} are unreachable. They serve`;
  printMessage(`${who} nobody until the connection to the cluster is back.`);
}

function warnOfAge(reason: string): void {
  printMessage(`${reason} The local node may show old data.`);
}
