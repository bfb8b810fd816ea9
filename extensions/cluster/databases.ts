/** Opens the database of the local rqlite node, for a server and for commands. */
import type { CommandDatabase } from "../../src/cli/command.ts";
import type { ClusterConfig } from "../../src/config.ts";
import type { Databases } from "../../src/extension.ts";
import { printMessage } from "../../src/process.ts";
import { openClusterBackups } from "./backups.ts";
import { openClusterDatabase, reasonFor } from "./database.ts";
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
      const open = (): CommandDatabase =>
        Object.assign(database, { importer: async () => (await import("./import.ts")).clusterImporter(database) });
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

function nameUnreachable(names: readonly string[]): void {
  const who =
    names.length === 1 ? `${names[0]} is unreachable. It serves` : `${names.join(", ")} are unreachable. They serve`;
  printMessage(`${who} nobody until the connection to the cluster is back.`);
}

function warnOfAge(reason: string): void {
  printMessage(`${reason} The local node may show old data.`);
}
