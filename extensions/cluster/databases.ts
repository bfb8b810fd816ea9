/** Opens what the local rqlite node has, for the server and for commands. */
import type { ClusterConfig } from "../../src/config.ts";
import type { Databases } from "../../src/extension.ts";
import { openClusterBackups } from "./cluster/backups.ts";
import { openCommandDatabase } from "./command-database.ts";
import { nodeAt } from "./node/node.ts";
import { openClusterStore } from "./served-store.ts";

export function clusterDatabases(path: string, cluster: ClusterConfig): Databases {
  const node = nodeAt(cluster);
  return {
    openForServing: async (keepsLedger) => openClusterStore({ path, node, name: cluster.name, keepsLedger }),
    openForCommands: () =>
      openCommandDatabase({ path, name: cluster.name, node, onSilent: nameSilent, onUnheard: warnOfAge }),
    openBackups: async () => openClusterBackups(path, node, warnOfAge),
  };
}

function nameSilent(names: readonly string[]): void {
  const who =
    names.length === 1 ? `${names[0]} is unreachable. It serves` : `${names.join(", ")} are unreachable. They serve`;
  process.stderr.write(`${who} nobody until the connection to the cluster is back.\n`);
}

function warnOfAge(reason: string): void {
  process.stderr.write(`${reason} The local node may show old data.\n`);
}
