/** Which store there is: a file of our own, or the file of an rqlite node, which only rqlite may write. */

import { openClusterAdminStore } from "../extensions/cluster/admin-store.ts";
import { openClusterBackups } from "../extensions/cluster/cluster/backups.ts";
import { openCluster } from "../extensions/cluster/cluster/cluster.ts";
import type { Cluster } from "../extensions/cluster/cluster/node-status.ts";
import type { ClusterConfig } from "../extensions/cluster/config.ts";
import type { RqliteNode } from "../extensions/cluster/node/node.ts";
import { openClusterStore } from "../extensions/cluster/served-store.ts";
import { openBackups } from "./backup/backups.ts";
import type { Config } from "./config.ts";
import { openAdminStore } from "./db/admin-store.ts";
import { openServedStore } from "./db/served-store.ts";
import type { AdminStore } from "./store/admin.ts";
import type { Backups } from "./store/backups.ts";
import { isFileOfNode } from "./store/database-files.ts";
import type { ServedStore } from "./store/serving.ts";
import { UserError } from "./user-error.ts";

/** Opens the store of the server. Throws a UserError or a StoreError that says why it cannot. */
export function openStoreOf({
  databasePath: path,
  cluster,
  disclosures,
}: Pick<Config, "databasePath" | "cluster" | "disclosures">): ServedStore {
  checkOwner(path, cluster);
  if (cluster !== null)
    return openClusterStore({ path, node: nodeBeside(cluster), name: cluster.name, keepsLedger: disclosures });
  return openServedStore(path, disclosures);
}

/** Opens the store of the commands. Throws a UserError or a StoreError that says why it cannot. */
export function openAdminStoreOf(path: string, cluster: ClusterConfig | null): AdminStore {
  checkOwner(path, cluster);
  if (cluster === null) return openAdminStore(path);
  return openClusterAdminStore({
    path,
    name: cluster.name,
    node: nodeBeside(cluster),
    onSilent: nameSilent,
    onUnheard: warnOfAge,
  });
}

/** The backups of what is served: of the one file, or of what the node beside has. */
export function openBackupsOf(path: string, cluster: ClusterConfig | null): Backups {
  checkOwner(path, cluster);
  return cluster === null ? openBackups(path) : openClusterBackups(path, nodeBeside(cluster), warnOfAge);
}

/** The cluster of the node beside. Throws a UserError where CLUSTER is not set. */
export function openClusterOf(path: string, cluster: ClusterConfig | null): Cluster {
  if (cluster !== null) return openCluster(path, nodeBeside(cluster));
  throw new UserError(
    "CLUSTER is not set.",
    "Set CLUSTER to the address of the rqlite node beside, and NODE to the name of this server.",
    2,
  );
}

function nameSilent(names: readonly string[]): void {
  const who =
    names.length === 1
      ? `${names[0]} could not be asked; it answers`
      : `${names.join(", ")} could not be asked; they answer`;
  process.stderr.write(`${who} nobody until the rest of the cluster is heard again.\n`);
}

function warnOfAge(reason: string): void {
  process.stderr.write(`No majority of the cluster is heard (${reason}): what this node shows may be old.\n`);
}

/** The node beside, as it is asked. */
function nodeBeside({ url, credentials }: ClusterConfig): RqliteNode {
  return { url, authorization: credentials === null ? null : `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** Throws a UserError where the file is a node's and CLUSTER is not set, or the other way round. Nothing is touched. */
function checkOwner(path: string, cluster: ClusterConfig | null): void {
  const isOfNode = isFileOfNode(path);
  if (isOfNode && cluster === null) {
    throw new UserError(
      `${path} is the file of an rqlite node, which alone may write it.`,
      "Set CLUSTER and NODE to work with the cluster, or DATABASE_PATH to another file.",
    );
  }
  if (!isOfNode && cluster !== null) {
    throw new UserError(
      `${path} is not the file of an rqlite node.`,
      "Set DATABASE_PATH to db.sqlite in the folder of the node at CLUSTER, once it runs.",
    );
  }
}
